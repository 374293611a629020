import type { Json } from '../../kernel/json/json.js'

/** At most `most` of `total` indexes, evenly spread from the first to the last. */
export const spread = (total: number, most: number): readonly number[] => {
  if (most <= 0) return []
  if (total <= most) return Array.from({ length: total }, (_, at) => at)
  if (most === 1) return [total - 1]
  return Array.from({ length: most }, (_, at) => Math.floor((at * (total - 1)) / (most - 1)))
}

/** At most `most` indexes of rows, among them the extremes of each key in stretches of equal length. */
export const withExtremes = (
  rows: readonly Readonly<Record<string, Json>>[],
  names: readonly string[],
  most: number,
): readonly number[] => {
  const keys = names.filter((name) => !CLIENTS_OWN.includes(name))
  const stretches = Math.floor((most - 2) / (2 * keys.length))
  if (rows.length <= most || keys.length === 0 || stretches < 1) return spread(rows.length, most)
  const chosen = new Set([0, rows.length - 1])
  for (let stretch = 0; stretch < stretches; stretch += 1) {
    const from = Math.floor((stretch * rows.length) / stretches)
    const until = Math.floor(((stretch + 1) * rows.length) / stretches)
    for (const key of keys) {
      const value = (at: number) => (typeof rows[at]![key] === 'number' ? rows[at]![key] : NaN)
      let [least, greatest] = [from, from]
      for (let at = from; at < until; at += 1) {
        if (!(value(at) >= value(least))) least = isNaN(value(at)) ? least : at
        if (!(value(at) <= value(greatest))) greatest = isNaN(value(at)) ? greatest : at
      }
      chosen.add(least).add(greatest)
    }
  }
  for (const at of spread(rows.length, most - chosen.size)) chosen.add(at)
  return [...chosen].sort((a, b) => a - b)
}

/** Members that the client adds to each row. */
const CLIENTS_OWN = ['_step', '_runtime', '_timestamp']

export const ownKeysOf = (row: Readonly<Record<string, Json>>) =>
  Object.fromEntries(CLIENTS_OWN.flatMap((key) => (row[key] === undefined ? [] : [[key, row[key]]])))
