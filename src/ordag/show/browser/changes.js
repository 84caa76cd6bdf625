// What is other in one answer than in the one before: arrows that came, went or turned, and the same in words.

import { counted, element, named } from "./text.js";

const NAMED_CHANGES = 3;

/** The name by which a variable is known from one document to the next. */
export function keyOf(doc, j) {
  return (doc.raw ?? doc.names)[j];
}

/** Where the variables of one document stand in another, by their names; undefined where it does not have one. */
export function placesIn(doc, other) {
  const found = new Map(other.names.map((_, j) => [keyOf(other, j), j]));
  return doc.names.map((_, j) => found.get(keyOf(doc, j)));
}

/** From one answer to the next, each { doc, present }.
 *
 * appeared: pairs of the new document. turned: those that had the other direction; opened, directed: those that lost or got one.
 * vanished: edges that went, each { from, k, source, target }: how it looked, and between which variables of the new document.
 * entered, left: variables, by their number in their own document; went: edges that left with them.
 */
export function difference(before, after) {
  const to = placesIn(before.doc, after.doc),
    from = placesIn(after.doc, before.doc);
  const { source, target, kind } = after.doc.pairs,
    old = before.doc.pairs;
  const count = after.doc.names.length,
    id = (a, b) => a * count + b;
  const were = new Map();
  let went = 0;
  before.present.forEach((is, k) => {
    if (!is) return;
    const [a, b] = [to[old.source[k]], to[old.target[k]]];
    if (a === undefined || b === undefined) went += 1;
    else were.set(id(a, b), k);
  });
  const changes = { appeared: [], turned: [], opened: [], directed: [], vanished: [], went };
  after.present.forEach((is, k) => {
    if (!is) return;
    const [same, back] = [id(source[k], target[k]), id(target[k], source[k])];
    const k0 = were.get(same) ?? were.get(back);
    if (k0 === undefined) changes.appeared.push(k);
    else if ((old.kind[k0] === "line") !== (kind[k] === "line")) changes[kind[k] === "line" ? "opened" : "directed"].push(k);
    else if (kind[k] !== "line" && !were.has(same)) changes.turned.push(k);
    were.delete(same);
    were.delete(back);
  });
  for (const k of were.values()) changes.vanished.push({ from: before.doc, k, source: to[old.source[k]], target: to[old.target[k]] });
  changes.entered = from.flatMap((at, j) => (at === undefined ? [j] : []));
  changes.left = to.flatMap((at, j) => (at === undefined ? [j] : []));
  return changes;
}

/** The changes of an answer as parts of a sentence: texts and names. */
export function changeWords(doc, changes) {
  const { source, target } = doc.pairs;
  const { appeared, turned, opened, directed, vanished, went } = changes;
  const pair = (a, b, mark = " → ") => element("span", { class: "pair" }, named(doc.names[a]), mark, named(doc.names[b]));
  const listed = (list, one) => [
    ...list.slice(0, NAMED_CHANGES).flatMap((item, at) => [at ? ", " : ": ", one(item)]),
    list.length > NAMED_CHANGES ? ` and ${list.length - NAMED_CHANGES} more` : "",
  ];
  const mark = (from, k) => (from.pairs.kind[k] === "line" ? " — " : " → ");
  const said = [
    vanished.length
      ? [`${counted(vanished.length, "arrow")} gone`, ...listed(vanished, (one) => pair(one.source, one.target, mark(one.from, one.k)))]
      : null,
    went ? [`${counted(went, "arrow")} left with the column`] : null,
    appeared.length
      ? [`${counted(appeared.length, "arrow")} new`, ...listed(appeared, (k) => pair(source[k], target[k], mark(doc, k)))]
      : null,
    turned.length
      ? [
          `${turned.length} reversed`,
          ...listed(turned, (k) => element("span", {}, pair(target[k], source[k]), " is now ", pair(source[k], target[k]))),
        ]
      : null,
    opened.length ? [`${opened.length} without direction now`, ...listed(opened, (k) => pair(source[k], target[k], " — "))] : null,
    directed.length ? [`${directed.length} with a direction now`, ...listed(directed, (k) => pair(source[k], target[k]))] : null,
  ].filter(Boolean);
  return said.flatMap((parts, at) => (at ? ["; ", ...parts] : parts));
}
