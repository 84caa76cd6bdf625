// Names that are too long for their place: shortened so that those of one table stay apart.

const PLAIN = /^[ -~]*$/; // every character is a letter of its own
const segments = typeof Intl.Segmenter === "function" ? new Intl.Segmenter() : null;

let tableNames = [], // the names of the table that the page is about
  shortNames = new Map(); // by the room that there is: from a long name to what stands for it

/** Let the page be about these names. */
export function meetNames(names) {
  tableNames = names;
  shortNames = new Map();
}

export function letters(text) {
  return segments && !PLAIN.test(text) ? Array.from(segments.segment(text), (piece) => piece.segment) : Array.from(text);
}

/** A long text with … in its middle; a name that would then read as another of the table keeps what sets it apart. */
export function shortened(text, most = 18) {
  if (text.length <= most) return text;
  if (!shortNames.has(most)) shortNames.set(most, namesApart(tableNames, most));
  return shortNames.get(most).get(text) ?? withoutMiddle(letters(text), most);
}

function withoutMiddle(pieces, most) {
  if (pieces.length <= most) return pieces.join("");
  const head = Math.ceil((most - 1) / 2);
  return `${pieces.slice(0, head).join("")}…${pieces.slice(pieces.length - (most - 1 - head)).join("")}`;
}

/** From each of the long names to a short one; short ones that are alike are made anew from what differs. */
function namesApart(names, most) {
  const short = new Map(names.filter((name) => name.length > most).map((name) => [name, withoutMiddle(letters(name), most)]));
  const settle = (group) => {
    const groups = new Map();
    for (const name of group) {
      if (!groups.has(short.get(name))) groups.set(short.get(name), []);
      groups.get(short.get(name)).push(name);
    }
    for (const alike of groups.values()) {
      if (alike.length === 1) continue;
      const made = withWhatDiffers(alike.map(letters), most);
      alike.forEach((name, at) => short.set(name, made[at]));
      if (new Set(made).size > 1) settle(alike);
    }
  };
  settle([...short.keys()]);
  return short;
}

/** The part in which names differ, amid as much of their ends as there is room for. */
function withWhatDiffers(all, most) {
  const [first] = all,
    least = Math.min(...all.map((one) => one.length));
  let before = 0,
    after = 0;
  while (before < least && all.every((one) => one[before] === first[before])) before += 1;
  while (after < least - before && all.every((one) => one.at(-1 - after) === first.at(-1 - after))) after += 1;
  const digit = (piece) => /^\d$/.test(piece ?? "");
  for (let k = 0; k < 4 && digit(first[before - 1]); k += 1) before -= 1; // 13 and 14 differ as a whole
  for (let k = 0; k < 4 && after && digit(first.at(-after)); k += 1) after -= 1;
  return all.map((one) => {
    const middle = withoutMiddle(one.slice(before, one.length - after), most - 2),
      room = most - 2 - letters(middle).length,
      tail = Math.min(after, Math.floor(room / 2)),
      head = Math.min(before, room - tail);
    const [start, end] = [one.slice(0, head), one.slice(one.length - tail)].map((part) => part.join(""));
    return `${start}${head < before ? "…" : ""}${middle}${tail < after ? "…" : ""}${end}`;
  });
}
