/** A metric of a run in columns. */
export interface Metric {
  readonly steps: readonly number[]
  readonly times: readonly (number | null)[]
  readonly values: readonly (number | null)[]
}

type Point = readonly [x: number, value: number | null]

/** What a chart can have along its x axis. */
export const AXES = ['step', 'time', 'relative'] as const
export type Axis = (typeof AXES)[number]

const pointsOf = ({ steps, times, values }: Metric, axis: Axis): readonly Point[] => {
  if (axis === 'step') return steps.map((step, at) => [step, values[at]!])
  const first = axis === 'relative' ? (times.find((time) => time !== null) ?? 0) : 0
  return times.flatMap((time, at) => (time === null ? [] : [[(time - first) * 1000, values[at]!] as const]))
}

/** The average of the values so far, of which each counts `weight` times as much as the next one. */
const smoothed = (values: readonly (number | null)[], weight: number): readonly (number | null)[] => {
  if (weight === 0) return values
  let [sum, divisor] = [0, 0]
  return values.map((value) => {
    if (value === null) return null
    sum = sum * weight + value
    divisor = divisor * weight + 1
    return sum / divisor
  })
}

/** The metrics of several runs over all their points; null where a run has no point. */
export const aligned = (
  metrics: readonly Metric[],
  axis: Axis,
  weight: number,
): { readonly x: readonly number[]; readonly values: readonly (readonly (number | null)[])[] } => {
  const lines = metrics.map((metric) => {
    const points = pointsOf(metric, axis)
    const line = smoothed(
      points.map(([, value]) => value),
      weight,
    )
    return new Map(points.map(([x], at) => [x, line[at]!]))
  })
  const x = [...new Set(lines.flatMap((line) => [...line.keys()]))].sort((one, other) => one - other)
  return { x, values: lines.map((line) => x.map((at) => line.get(at) ?? null)) }
}

/** Names by what is before their first slash, as `wandb` has sections; '' for names without one. */
export const sectionsOf = (names: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const sections = new Map<string, string[]>()
  for (const name of names) {
    const slash = name.indexOf('/')
    const section = slash < 0 ? '' : name.slice(0, slash)
    const own = sections.get(section)
    if (own === undefined) sections.set(section, [name])
    else own.push(name)
  }
  return sections
}
