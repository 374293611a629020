import type { Json } from '../../src/kernel/json/json.js'

/** A number from 0 up to, and without, this one. */
export type Draw = (most: number) => number

/** Mulberry32. */
export const drawFrom = (seed: number): Draw => {
  let state = seed >>> 0
  return (most) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most
  }
}

export const one = <A>(draw: Draw, values: readonly A[]): A => values[draw(values.length)]!

const ODD: readonly Json[] = [
  null,
  '',
  'text',
  0,
  -1,
  1e300,
  true,
  [],
  [[]],
  {},
  [{}],
  { a: { b: [] } },
  '\ud800',
  'data: x\n\n',
  '__proto__',
]

interface Mutable {
  [key: string]: Json | Mutable
}

/** Every place of a value, as its holder and key. */
const placesIn = (value: unknown): readonly (readonly [holder: Mutable, key: string])[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, member]) => [
        [value as Mutable, key] as const,
        ...placesIn(member),
      ])

/** Changes or removes something in the value, or adds to it. */
export const spoil = (value: unknown, draw: Draw): void => {
  const [holder, key] = one(draw, placesIn(value))
  const kind = draw(4)
  if (kind === 0 && !Array.isArray(holder)) Reflect.deleteProperty(holder, key)
  else if (kind === 1) holder[one(draw, ['index', 'id', 'type', 'content', 'x', 'choices'])] = one(draw, ODD)
  else holder[key] = structuredClone(one(draw, ODD))
}
