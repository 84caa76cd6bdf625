// When what is shown now is on the screen, and how long it took until then.

/** A promise that is kept when what is shown now is painted. */
export const painted = () =>
  new Promise((settle) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = settle;
      port2.postMessage(null);
    });
  });

/** How long it took until what is shown now is painted, for whoever measures: the last time only, as they would pile up. */
export async function measure(name, since, words) {
  await painted();
  performance.clearMeasures(name);
  performance.measure(name, { start: since, end: performance.now(), detail: { words } });
}
