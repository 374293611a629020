/** Emits the binary format of WebAssembly, as far as the matrix kernel needs it. */

/** Instructions as bytes. */
export type Code = readonly number[]

const unsigned = (value: number): Code =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)]

const signed = (value: number): Code => {
  const byte = value & 0x7f
  const rest = value >> 7
  const isLast = (rest === 0 && (byte & 0x40) === 0) || (rest === -1 && (byte & 0x40) !== 0)
  return isLast ? [byte] : [byte | 0x80, ...signed(rest)]
}

const sized = (bytes: Code): Code => [...unsigned(bytes.length), ...bytes]
const listed = (items: readonly Code[]): Code => [...unsigned(items.length), ...items.flat()]
const section = (id: number, items: readonly Code[]): Code => [id, ...sized(listed(items))]
const named = (name: string): Code => sized([...Buffer.from(name)])

const I32 = 0x7f
const V128 = 0x7b
const NO_RESULT = 0x40
const END = 0x0b

const simd = (opcode: number): Code => [0xfd, ...unsigned(opcode)]
const at = (alignment: number, offset: number): Code => [alignment, ...unsigned(offset)]

export const get = (local: number): Code => [0x20, ...unsigned(local)]
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)]
export const constant = (value: number): Code => [0x41, ...signed(value)]
export const add = (left: Code, right: Code): Code => [...left, ...right, 0x6a]
export const subtract = (left: Code, right: Code): Code => [...left, ...right, 0x6b]
export const times = (left: Code, right: Code): Code => [...left, ...right, 0x6c]
export const isAtLeast = (left: Code, right: Code): Code => [...left, ...right, 0x4e]

export const loadVector = (address: Code, offset: number): Code => [...address, ...simd(0), ...at(0, offset)]
export const loadSplat = (address: Code, offset: number): Code => [...address, ...simd(9), ...at(2, offset)]
export const storeVector = (address: Code, offset: number, value: Code): Code => [
  ...address,
  ...value,
  ...simd(11),
  ...at(0, offset),
]
export const addVectors = (left: Code, right: Code): Code => [...left, ...right, ...simd(0xe4)]
export const timesVectors = (left: Code, right: Code): Code => [...left, ...right, ...simd(0xe6)]
/** Copies four bytes. */
export const copyWord = (to: Code, toOffset: number, from: Code): Code => [
  ...to,
  ...[...from, 0x28, ...at(2, 0)],
  ...[0x36, ...at(2, toOffset)],
]

/** Repeats `body` for as long as `condition` is not 0. */
export const loopWhile = (condition: Code, body: Code): Code => [
  ...[0x02, NO_RESULT, 0x03, NO_RESULT],
  ...[...condition, 0x45, 0x0d, 1],
  ...[...body, 0x0c, 0],
  ...[END, END],
]

export interface WasmFunction {
  readonly name: string
  /** The number of parameters, each an i32. Locals are numbered after them: first those of integers, then vectors. */
  readonly parameters: number
  readonly integers: number
  readonly vectors: number
  readonly body: Code
}

/** A module that imports `env.memory` and exports the functions, which return nothing. */
export const wasmModule = (functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      functions.map(({ parameters }) => [0x60, ...sized(Array<number>(parameters).fill(I32)), 0]),
    ),
    ...section(2, [[...named('env'), ...named('memory'), 0x02, 0, 1]]),
    ...section(
      3,
      functions.map((_, index) => unsigned(index)),
    ),
    ...section(
      7,
      functions.map(({ name }, index) => [...named(name), 0, ...unsigned(index)]),
    ),
    ...section(
      10,
      functions.map(({ integers, vectors, body }) =>
        sized([
          ...listed([
            [...unsigned(integers), I32],
            [...unsigned(vectors), V128],
          ]),
          ...body,
          END,
        ]),
      ),
    ),
  ])
