// Who is joined to whom: parents, children, ancestors and total effects, from pairs and weights.

/** The neighbours of every variable among the pairs that are present: lists of the numbers of pairs. */
export function relations(doc, present) {
  const into = doc.names.map(() => []),
    out = doc.names.map(() => []),
    lines = doc.names.map(() => []);
  const { source, target, kind } = doc.pairs;
  present.forEach((is, k) => {
    if (!is) return;
    if (kind[k] === "line") {
      lines[source[k]].push(k);
      lines[target[k]].push(k);
    } else {
      into[target[k]].push(k);
      out[source[k]].push(k);
    }
  });
  const degree = (j) => into[j].length + out[j].length + lines[j].length;
  const busiest = doc.order.reduce((best, j) => (degree(j) > degree(best) ? j : best), doc.order[0]);
  return { into, out, lines, degree, busiest };
}

/** The first variable of the order that something follows from; the first of all where nothing does. Categories are none. */
export function firstCause(doc, related) {
  const variables = doc.order.filter((j) => !categoryOf(doc, j));
  return variables.find((j) => related.out[j].length) ?? variables[0];
}

/** Everything that arrows lead to from a variable, or with `back` everything from which they lead to it. */
export function reached(doc, related, start, back = false) {
  const links = back ? related.into : related.out,
    ends = back ? doc.pairs.source : doc.pairs.target;
  const seen = new Set(),
    waiting = [start];
  while (waiting.length) {
    for (const k of links[waiting.pop()]) {
      const other = ends[k];
      if (other === start || seen.has(other)) continue;
      seen.add(other);
      waiting.push(other);
    }
  }
  return seen;
}

/** The category that a node stands for: its groups and their means; undefined for a variable. */
export function categoryOf(doc, j) {
  return doc.categories?.find((one) => one.at === j);
}

/** The other end of a pair. */
export function otherEnd(doc, k, j) {
  return doc.pairs.source[k] === j ? doc.pairs.target[k] : doc.pairs.source[k];
}

/** What one unit more of a variable changes in every other, along the arrows as learned: sums of products of weights over all paths.
 *
 * Along the order, t[j] = Σ_i t[i] · weight[i, j] from t[start] = 1. Null where there are no weights or no order to follow.
 */
export function totalEffects(doc, start) {
  const { source, target, kind, weight } = doc.pairs;
  if (!weight || !doc.ordered) return null;
  const into = doc.names.map(() => []);
  kind.forEach((what, k) => {
    if (what === "arrow" && weight[k] !== null) into[target[k]].push(k);
  });
  const total = new Map([[start, 1]]);
  for (const j of doc.order) {
    if (j === start) continue;
    let sum = 0,
      found = false;
    for (const k of into[j]) {
      if (!total.has(source[k])) continue;
      sum += total.get(source[k]) * weight[k];
      found = true;
    }
    if (found) total.set(j, sum);
  }
  total.delete(start);
  return total;
}
