const LEVELS = ' ▁▂▃▄▅▆▇█'
const STEPS = LEVELS.length - 1

/**
 * A chart of values from left to right, as lines of text with the scale on the left. More values than fit are replaced
 * by the means of neighbours.
 */
export const chartOf = (values: readonly number[], width: number, height: number): readonly string[] => {
  if (values.length === 0) return []
  const columns = thinned(values, width)
  const [least, most] = [Math.min(...columns), Math.max(...columns)]
  const range = most - least
  const filled = columns.map((value) =>
    range > 0 ? 1 + Math.round(((value - least) / range) * (height * STEPS - 1)) : STEPS,
  )
  const labels = [shownNumber(most), shownNumber(least)]
  const margin = Math.max(...labels.map((label) => label.length))
  return Array.from({ length: height }, (_, row) => {
    const under = (height - 1 - row) * STEPS
    const cells = filled.map((level) => LEVELS[Math.min(STEPS, Math.max(0, level - under))]).join('')
    const label = row === 0 ? labels[0]! : row === height - 1 ? labels[1]! : ''
    return `${label.padStart(margin)} ${cells}`
  })
}

export const shownNumber = (value: number): string => String(Number(value.toPrecision(4)))

const thinned = (values: readonly number[], most: number): readonly number[] => {
  if (values.length <= most) return values
  return Array.from({ length: most }, (_, at) => {
    const from = Math.floor((at * values.length) / most)
    const bin = values.slice(from, Math.floor(((at + 1) * values.length) / most))
    return bin.reduce((sum, value) => sum + value, 0) / bin.length
  })
}
