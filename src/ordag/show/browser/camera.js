// Where one looks at a drawing from: pan by dragging, zoom by wheel, pinch or buttons.

const NEAREST = 4;
const FARTHEST = 0.15;
const HEADROOM = 32; // pixels above a drawing that is lower than its box

/** The camera of an svg whose group `world` it moves; `moved(view)` is called at every change.
 *
 * Plain turns of the wheel are left to the page, which scrolls: with Ctrl they zoom, sideways they pan.
 */
export function createCamera(svg, world, moved) {
  const view = { x: 0, y: 0, k: 1 };
  const pointers = new Map();
  let pinch = 0;

  function look(next) {
    Object.assign(view, next);
    world.setAttribute("transform", `translate(${view.x.toFixed(1)} ${view.y.toFixed(1)}) scale(${view.k.toFixed(4)})`);
    moved(view);
  }

  const size = () => ({ width: svg.clientWidth || 600, height: svg.clientHeight || 400 });

  function zoom(factor, x = size().width / 2, y = size().height / 2) {
    const k = Math.min(NEAREST, Math.max(FARTHEST, view.k * factor));
    look({ x: x - ((x - view.x) * k) / view.k, y: y - ((y - view.y) * k) / view.k, k });
  }

  /** As much of a rectangle as fits at a scale from `least` to `most`; where it is too wide, the part around x. */
  function fit({ left, right, top, bottom }, x, least, most) {
    const { width, height } = size();
    const k = Math.min(most, Math.max(least, Math.min((width - 16) / (right - left), (height - 16) / (bottom - top))));
    const wide = (right - left) * k > width;
    const high = (bottom - top) * k > height;
    look({
      k,
      x: wide ? Math.min(8 - left * k, Math.max(width - 8 - right * k, width / 2 - x * k)) : (width - (left + right) * k) / 2,
      y: high ? 8 - top * k : Math.min((height - (top + bottom) * k) / 2, HEADROOM - top * k),
    });
  }

  /** Bring a point into sight, if it is not. */
  function show(x, y) {
    const { width, height } = size();
    const [across, down] = [x * view.k + view.x, y * view.k + view.y];
    if (across > 40 && across < width - 40 && down > 30 && down < height - 30) return;
    look({ x: width / 2 - x * view.k, y: height / 2 - y * view.k });
  }

  function spread() {
    const [a, b] = [...pointers.values()];
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  }

  svg.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 2) pinch = spread();
  });
  svg.addEventListener("pointermove", (event) => {
    const last = pointers.get(event.pointerId);
    if (!last) return;
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (pointers.size === 1) {
      svg.classList.add("grabbed");
      look({ x: view.x + event.clientX - last[0], y: view.y + event.clientY - last[1] });
    } else if (pinch) {
      const now = spread();
      zoom(now / pinch);
      pinch = now;
    }
  });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) {
    svg.addEventListener(name, (event) => {
      pointers.delete(event.pointerId);
      svg.classList.remove("grabbed");
    });
  }
  svg.addEventListener("wheel", wheel, { passive: false });

  function wheel(event) {
    const corner = svg.getBoundingClientRect();
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY / 300), event.clientX - corner.left, event.clientY - corner.top);
    else if (sideways) look({ x: view.x - event.deltaX });
    else return;
    event.preventDefault();
  }

  return { view, zoom, fit, show, look };
}
