/**
 * Numbers from 0 to 1, excluding 1, for a whole number. The generator is mulberry32: equal seeds give equal numbers on
 * every machine.
 */
export const randomNumbers = (seed: number): (() => number) => {
  // Its state has 32 bits; the higher bits of a seed are mixed in.
  let state = (seed ^ Math.imul(Math.floor(seed / 2 ** 32), 0x9e3779b1)) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The seed of one of several choices, unrelated to those of other choices and of other seeds. */
export const seedOfChoice = (seed: number, choice: number): number =>
  choice === 0
    ? seed
    : Math.floor(randomNumbers(Math.floor(randomNumbers(seed)() * 2 ** 32) + choice)() * 2 ** 53)
