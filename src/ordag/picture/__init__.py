"""Layout and drawing of boxes and arrows, without a plotting library and independent of what the boxes stand for."""
