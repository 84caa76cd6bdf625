// Statements of prior knowledge in a state. Functions edit the state that they are given; names are those of the columns.

export const LISTS = ["tiers", "required", "forbidden", "roots", "sinks"];

/** The five lists of a state; those that it lacks are made. */
export function knowledgeOf(S) {
  S.knowledge ??= {};
  for (const list of LISTS) S.knowledge[list] ??= [];
  return S.knowledge;
}

/** The number of statements. */
export function countOf(S) {
  const known = S.knowledge ?? {};
  return LISTS.reduce((sum, list) => sum + (known[list]?.length ?? 0), 0);
}

/** The statement about the arrow from a to b: "required", "forbidden" or "". */
export function saidOf(S, a, b) {
  const within = (list) => (S.knowledge?.[list] ?? []).some(([from, to]) => from === a && to === b);
  return within("required") ? "required" : within("forbidden") ? "forbidden" : "";
}

/** Remove the statements about the arrow from a to b. */
export function unsay(S, a, b) {
  const known = knowledgeOf(S);
  for (const list of ["required", "forbidden"]) known[list] = known[list].filter(([from, to]) => from !== a || to !== b);
}

/** Require an arrow; a statement against it, or a required reverse arrow, is removed. */
export function requireArrow(S, a, b) {
  unsay(S, a, b);
  if (saidOf(S, b, a) === "required") unsay(S, b, a);
  knowledgeOf(S).required.push([a, b]);
}

/** Forbid an arrow; a statement for it is removed. */
export function forbidArrow(S, a, b) {
  unsay(S, a, b);
  knowledgeOf(S).forbidden.push([a, b]);
}

/** Add a name to the roots or the sinks, or remove it. */
export function toggleEnd(S, list, name) {
  const known = knowledgeOf(S);
  known[list] = known[list].includes(name) ? known[list].filter((one) => one !== name) : [...known[list], name];
}

/** The tier of a name, from 0; −1 for none. */
export function tierOf(S, name) {
  return (S.knowledge?.tiers ?? []).findIndex((tier) => tier.includes(name));
}

/** Move names to { tier: i }, to { gap: i } (a new tier before the i-th), or to {}, which is no tier. Empty tiers are removed. */
export function moveToTier(S, names, { tier, gap }) {
  const known = knowledgeOf(S),
    place = new Map(S.data.names.map((name, at) => [name, at]));
  const tiers = known.tiers.map((one) => one.filter((name) => !names.includes(name)));
  if (gap !== undefined) tiers.splice(gap, 0, [...names]);
  else if (tier !== undefined) tiers[tier] = [...tiers[tier], ...names];
  known.tiers = tiers.filter((one) => one.length).map((one) => one.sort((a, b) => place.get(a) - place.get(b)));
}
