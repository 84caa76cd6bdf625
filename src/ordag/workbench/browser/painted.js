// Measure how long a change takes until it is painted.

/** A promise that is kept when the present state is painted. */
const painted = () =>
  new Promise((settle) => {
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = settle;
      port2.postMessage(null);
    });
  });

/** Record how long it took until the present state was painted, for benchmarks; only the last time is kept. */
export async function measure(name, since, words) {
  await painted();
  performance.clearMeasures(name);
  performance.measure(name, { start: since, end: performance.now(), detail: { words } });
}
