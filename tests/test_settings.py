"""Settings are said once: what is made from them is what the classes say, and every setting can be given everywhere."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import click
import pytest

import ordag
from ordag.cli.learn import learn as learn_command
from ordag.common.settings import declared
from ordag.data.table import Table
from ordag.errors import SettingError
from ordag.learners.methods import METHODS, settings_for, settings_of
from tools import settings as made

MARKS = Table("marks")
ROOT = Path(__file__).parent.parent
ESTIMATORS = {estimator.method: estimator for estimator in (ordag.Pooled, ordag.CVS, ordag.PC, ordag.GES, ordag.GDS)}


def test_the_page_and_the_keywords_are_those_of_the_classes():
    assert (ROOT / "docs" / "settings.md").read_text(encoding="utf-8") == made.page(), "run make settings"
    assert (ROOT / "src" / "ordag" / "keywords.py").read_text(encoding="utf-8") == made.keywords(), "run make settings"


@pytest.mark.parametrize("method", METHODS)
def test_the_estimator_has_the_settings_of_its_method(method):
    taken = inspect.signature(ESTIMATORS[method]).parameters
    known = {field.name: field.default for field in fields(METHODS[method].settings)}
    assert {"seed" if name == "random_state" else name: one.default for name, one in taken.items()} == known


@pytest.mark.parametrize("method", METHODS)
def test_the_command_has_an_option_for_every_setting_that_can_be_typed(method):
    options = {one.name: one for one in learn_command.params if isinstance(one, click.Option)}
    for name, known in declared(METHODS[method].settings).items():
        assert (known.typed is not None) == (name in options)
        if known.choices and known.typed is not None:
            assert set(options[name].type.choices) >= set(known.choices)
        if known.typed is not None:
            assert known.help.lower() in (options[name].help or "").lower()


def test_defaults_of_auto_and_of_a_method_are_the_same_objects():
    for method in METHODS:
        assert settings_for(MARKS, method, {}).plain() == METHODS[method].settings().plain()
        assert set(settings_of(method)) <= set(settings_of("auto"))


def test_a_value_is_checked_where_it_is_given_and_kept_as_it_is_used():
    with pytest.raises(SettingError, match="alpha=2"):
        settings_for(MARKS, "cvs", {"alpha": 2})
    assert settings_for(MARKS, "ges", {"penalty": 2}).penalty == 2.0
    assert settings_for(MARKS, "gds", {"restarts": [5, 6]}).restarts == (5, 6)
    with pytest.raises(SettingError, match="corrects tests"):
        settings_for(MARKS, "cvs", {"parents": "bic", "correction": "bh"})


def test_settings_cannot_be_changed():
    settings = settings_for(MARKS, "cvs", {})
    with pytest.raises(AttributeError):
        settings.alpha = 0.5
