/** Values of a line by x, ascending. */
export interface Series {
  readonly x: number[]
  readonly y: number[]
}

/** Keeps the first, lowest, highest and last point of each of `buckets` parts, so that spikes stay visible. */
export const thin = ({ x, y }: Series, buckets = 400): readonly [x: number[], y: number[]] => {
  if (x.length <= buckets * 4) return [x.slice(), y.slice()]
  const size = x.length / buckets
  const kept: [number[], number[]] = [[], []]
  for (let bucket = 0; bucket < buckets; bucket++) {
    const from = Math.floor(bucket * size)
    const to = Math.floor((bucket + 1) * size)
    let [lowest, highest] = [from, from]
    for (let at = from; at < to; at++) {
      if (y[at]! < y[lowest]!) lowest = at
      if (y[at]! > y[highest]!) highest = at
    }
    for (const at of [...new Set([from, lowest, highest, to - 1])].sort((one, other) => one - other)) {
      kept[0].push(x[at]!)
      kept[1].push(y[at]!)
    }
  }
  return kept
}
