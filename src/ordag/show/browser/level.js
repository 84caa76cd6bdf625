// Which pairs are joined at a level, and how many of them chance alone would give: as `parents/by_tests.py` has it.

/** The largest p-value that counts. `ranked` are the p-values of the pairs that were tested, least first. */
function thresholdOf(correction, level, pairs, ranked) {
  if (correction === "bonferroni") return level / Math.max(pairs, 1);
  if (correction !== "bh") return level;
  let found = -1;
  ranked.forEach((value, place) => {
    if (value <= (level * (place + 1)) / pairs) found = value;
  });
  return found;
}

/** The pairs that these settings join; level null is the graph as it was learned.
 *
 * present: one flag per pair. expected: false edges to expect, null if unknown. cut: the document may lack some pairs.
 */
export function joined(doc, level, correction, support) {
  const { pairs, fixed, level: rule } = doc;
  const learned = pairs.kind.map((kind) => kind !== "absent");
  let present = learned;
  let expected = rule ? rule.expected : null;
  let cut = false;
  const evidence = rule ? pairs[rule.evidence] : null;
  if (rule && level !== null && evidence) {
    const required = new Set(fixed.required);
    const untested = new Set([...fixed.required, ...fixed.barred]);
    const small = new Set(fixed.small);
    const tested = evidence.map((value, k) => value !== null && !untested.has(k) && (learned[k] || !rule.learned_only));
    let found = tested.map((is, k) => is && evidence[k] <= level);
    if (rule.evidence === "edge_probability") {
      found = tested.map((is, k) => is && evidence[k] >= level);
      cut = level < rule.complete;
    } else if (rule.evidence === "p_value" && !rule.learned_only) {
      const ranked = evidence.filter((value, k) => tested[k] && value <= rule.complete).sort((a, b) => a - b);
      const threshold = thresholdOf(correction, level, rule.pairs, ranked);
      found = tested.map((is, k) => is && evidence[k] <= threshold);
      cut = rule.complete < 1 && (threshold > rule.complete || (correction === "bh" && threshold === ranked[ranked.length - 1]));
      expected = threshold * rule.pairs;
    }
    const rate = rule.evidence === "q_value" || (correction === "bh" && !rule.learned_only);
    if (rate) expected = level * found.filter(Boolean).length;
    else if (rule.learned_only) expected = null;
    const unknown = (k) => learned[k] && evidence[k] === null;
    present = found.map((is, k) => required.has(k) || unknown(k) || (is && !small.has(k)));
  }
  if (support > 0 && pairs.support) present = present.map((is, k) => is && (pairs.support[k] ?? 1) >= support);
  if (rule && rule.evidence === "edge_probability") {
    expected = present.reduce((sum, is, k) => sum + (is ? 1 - (pairs.edge_probability[k] ?? 1) : 0), 0);
  }
  return { present, expected, cut };
}

/** Places on a slider from 0 to 1000, and the levels they stand for: even steps of a logarithm for tests, even steps for shares. */
export function scaleOf(rule) {
  if (rule.evidence === "edge_probability") {
    return { least: 0.01, most: 1, level: (place) => 0.01 + (0.99 * place) / 1000, place: (level) => ((level - 0.01) / 0.99) * 1000 };
  }
  const low = -8,
    high = Math.log10(rule.learned_only && rule.value ? rule.value : 0.5);
  return {
    least: 10 ** low,
    most: 10 ** high,
    level: (place) => Number((10 ** (low + ((high - low) * place) / 1000)).toPrecision(2)),
    place: (level) => ((Math.log10(Math.max(level, 1e-300)) - low) / (high - low)) * 1000,
  };
}
