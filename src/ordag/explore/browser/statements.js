// What is said beforehand about arrows, as changes of the bench's state: every function changes the state that it is given.
// Names are those of the columns.

export const LISTS = ["tiers", "required", "forbidden", "roots", "sinks"];

/** The five lists of a state; those that it lacks are made. */
export function knowledgeOf(S) {
  S.knowledge ??= {};
  for (const list of LISTS) S.knowledge[list] ??= [];
  return S.knowledge;
}

/** How many things are said. */
export function countOf(S) {
  const known = S.knowledge ?? {};
  return LISTS.reduce((sum, list) => sum + (known[list]?.length ?? 0), 0);
}

/** What is said of the arrow from a to b: "required", "forbidden" or "". */
export function saidOf(S, a, b) {
  const within = (list) => (S.knowledge?.[list] ?? []).some(([from, to]) => from === a && to === b);
  return within("required") ? "required" : within("forbidden") ? "forbidden" : "";
}

/** Nothing is said any more of the arrow from a to b. */
export function unsay(S, a, b) {
  const known = knowledgeOf(S);
  for (const list of ["required", "forbidden"]) known[list] = known[list].filter(([from, to]) => from !== a || to !== b);
}

/** The arrow is there; what was said against it is taken back, and so is an arrow back. */
export function requireArrow(S, a, b) {
  unsay(S, a, b);
  if (saidOf(S, b, a) === "required") unsay(S, b, a);
  knowledgeOf(S).required.push([a, b]);
}

/** The arrow is not there; what was said for it is taken back. */
export function forbidArrow(S, a, b) {
  unsay(S, a, b);
  knowledgeOf(S).forbidden.push([a, b]);
}

/** A name goes into the roots or the sinks, or out of them. */
export function toggleEnd(S, list, name) {
  const known = knowledgeOf(S);
  known[list] = known[list].includes(name) ? known[list].filter((one) => one !== name) : [...known[list], name];
}

/** The tier of a name, from 0; −1 for none. */
export function tierOf(S, name) {
  return (S.knowledge?.tiers ?? []).findIndex((tier) => tier.includes(name));
}

/** Names go to { tier: i }, to { gap: i } (a new tier before the i-th), or to {}, which is no tier. Tiers left empty go. */
export function moveToTier(S, names, { tier, gap }) {
  const known = knowledgeOf(S),
    place = new Map(S.data.names.map((name, at) => [name, at]));
  const tiers = known.tiers.map((one) => one.filter((name) => !names.includes(name)));
  if (gap !== undefined) tiers.splice(gap, 0, [...names]);
  else if (tier !== undefined) tiers[tier] = [...tiers[tier], ...names];
  known.tiers = tiers.filter((one) => one.length).map((one) => one.sort((a, b) => place.get(a) - place.get(b)));
}
