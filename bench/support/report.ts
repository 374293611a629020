export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

/** One line of a report: a ratio against its goal. */
export const ratio = (name: string, value: number, goal: string, isMet: boolean, details: string): void =>
  console.log(`${isMet ? 'met   ' : 'MISSED'}  ${name}: ${value.toFixed(3)} (goal ${goal})  ${details}`)

/** The smallest that 99 % do not exceed. */
export const p99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.ceil(values.length * 0.99) - 1]!
