import {
  add,
  addVectors,
  constant,
  copyWord,
  get,
  isAtLeast,
  loadSplat,
  loadVector,
  loopWhile,
  set,
  storeVector,
  subtract,
  times,
  timesVectors,
  wasmModule,
  type Code,
  type WasmFunction,
} from './assembler.js'

const FLOAT = 4
const VECTOR = 16
/** Columns of a packed panel of the right factor: two vectors. */
const COLUMNS = 8
const WIDE_COLUMNS = 32

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index)

/**
 * C += A·B for all rows of A and `vectors`·4 columns of B. The sums of `tileRows` rows at a time stay in registers over
 * the whole inner dimension. `a`, `b` and `c` are addresses; the strides between rows and along the inner dimension are in
 * bytes.
 */
const panel = (name: string, vectors: number, tileRows: number): WasmFunction => {
  const [a, aRow, aStep, b, bStep, c, cRow, rows, inner] = [0, 1, 2, 3, 4, 5, 6, 7, 8]
  const [remaining, right] = [9, 10]
  const left = (row: number) => 11 + row
  const sum = (row: number, vector: number) => 11 + tileRows + row * vectors + vector
  const factor = (vector: number) => sum(tileRows, vector)
  const splat = factor(vectors)
  const eachSum = (of: number, then: (local: number, row: number, offset: number) => Code): Code =>
    upTo(of).flatMap((row) => upTo(vectors).flatMap((v) => then(sum(row, v), row, v * VECTOR)))
  const cOf = (row: number): Code => add(get(c), times(get(cRow), constant(row)))

  const tile = (height: number): Code => [
    ...upTo(height).flatMap((row) => set(left(row), add(get(a), times(get(aRow), constant(row))))),
    ...eachSum(height, (local, row, offset) => set(local, loadVector(cOf(row), offset))),
    ...set(right, get(b)),
    ...set(remaining, get(inner)),
    ...loopWhile(get(remaining), [
      ...upTo(vectors).flatMap((v) => set(factor(v), loadVector(get(right), v * VECTOR))),
      ...upTo(height).flatMap((row) => [
        ...set(splat, loadSplat(get(left(row)), 0)),
        ...upTo(vectors).flatMap((v) =>
          set(sum(row, v), addVectors(get(sum(row, v)), timesVectors(get(splat), get(factor(v))))),
        ),
        ...set(left(row), add(get(left(row)), get(aStep))),
      ]),
      ...set(right, add(get(right), get(bStep))),
      ...set(remaining, subtract(get(remaining), constant(1))),
    ]),
    ...eachSum(height, (local, row, offset) => storeVector(cOf(row), offset, get(local))),
    ...set(a, add(get(a), times(get(aRow), constant(height)))),
    ...set(c, add(get(c), times(get(cRow), constant(height)))),
    ...set(rows, subtract(get(rows), constant(height))),
  ]
  return {
    name,
    parameters: 9,
    integers: 2 + tileRows,
    vectors: (tileRows + 1) * vectors + 1,
    body: [
      ...loopWhile(isAtLeast(get(rows), constant(tileRows)), tile(tileRows)),
      ...(tileRows === 1 ? [] : loopWhile(get(rows), tile(1))),
    ],
  }
}

/** Copies eight columns of a matrix of any strides into rows of eight floats. */
const pack = (): WasmFunction => {
  const [from, step, column, to, inner, source] = [0, 1, 2, 3, 4, 5]
  return {
    name: 'pack',
    parameters: 5,
    integers: 1,
    vectors: 0,
    body: loopWhile(get(inner), [
      ...set(source, get(from)),
      ...upTo(COLUMNS).flatMap((index) => [
        ...copyWord(get(to), index * FLOAT, get(source)),
        ...set(source, add(get(source), get(column))),
      ]),
      ...set(from, add(get(from), get(step))),
      ...set(to, add(get(to), constant(COLUMNS * FLOAT))),
      ...set(inner, subtract(get(inner), constant(1))),
    ]),
  }
}

/** The part of the global object that is used here: the types of Node 20 leave it out. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer }
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

const compiled = new WebAssembly.Module(
  wasmModule([panel('narrow', COLUMNS / 4, 4), panel('wide', WIDE_COLUMNS / 4, 1), pack()]),
)

type Panel = (
  ...args: readonly [
    a: number,
    aRow: number,
    aStep: number,
    b: number,
    bStep: number,
    c: number,
    cRow: number,
    rows: number,
    inner: number,
  ]
) => void

interface KernelExports {
  readonly narrow: Panel
  readonly wide: Panel
  readonly pack: (from: number, step: number, column: number, to: number, inner: number) => void
}

/** Floats in the memory of a kernel. */
export type Floats = Float32Array<ArrayBuffer>

/** A matrix within floats of a kernel: `row` and `column` are the distances between neighbours, in floats. */
export interface Matrix {
  readonly floats: Floats
  readonly start: number
  readonly row: number
  readonly column: number
}

export interface Kernel {
  /** Floats that last as long as the kernel, all 0. */
  readonly floats: (length: number) => Floats
  /** C += A·B, where A has `rows` × `inner` and B `inner` × `columns` elements. Rows of C are contiguous. */
  readonly multiplyAdd: (
    a: Matrix,
    b: Matrix,
    c: Matrix,
    rows: number,
    inner: number,
    columns: number,
  ) => void
}

const PAGE = 65_536
/** The longest inner dimension of one pass: a packed panel then fits the first level of the processor's cache. */
const INNER = 512
/** With fewer rows, packing the right factor takes longer than it saves. */
const PACK_ROWS = 8

/** The kernel and its memory, which has room for `capacity` floats. The system provides pages as they are written. */
export const createKernel = (capacity: number): Kernel => {
  const scratchFloats = COLUMNS * (INNER + 1)
  const initial = Math.ceil(((capacity + scratchFloats + VECTOR) * FLOAT) / PAGE)
  const memory = new WebAssembly.Memory({ initial })
  const { buffer } = memory
  const {
    narrow,
    wide,
    pack: packPanel,
  } = new WebAssembly.Instance(compiled, { env: { memory } }).exports as KernelExports
  let used = 0
  const floats = (length: number): Floats => {
    const made = new Float32Array(buffer, used, length)
    used += Math.ceil(length / 4) * VECTOR
    return made
  }
  const packed = floats(COLUMNS * INNER)
  const edge = floats(COLUMNS)
  const address = ({ floats: of, start }: Matrix): number => of.byteOffset + start * FLOAT

  /** The last columns, fewer than a panel: one row at a time, through a row of eight columns. */
  const lastColumns = (
    a: Matrix,
    b: Matrix,
    c: Matrix,
    rows: number,
    inner: number,
    columns: number,
  ): void => {
    packed.fill(0)
    for (let k = 0; k < inner; k += 1)
      for (let j = 0; j < columns; j += 1)
        packed[k * COLUMNS + j] = b.floats[b.start + k * b.row + j * b.column]!
    for (let i = 0; i < rows; i += 1) {
      edge.fill(0)
      const left = address(a) + i * a.row * FLOAT
      const strides = [a.row * FLOAT, a.column * FLOAT] as const
      narrow(left, ...strides, packed.byteOffset, COLUMNS * FLOAT, edge.byteOffset, 0, 1, inner)
      for (let j = 0; j < columns; j += 1) c.floats[c.start + i * c.row + j]! += edge[j]!
    }
  }

  const pass = (a: Matrix, b: Matrix, c: Matrix, rows: number, inner: number, columns: number): void => {
    const [aStart, bStart, cStart] = [address(a), address(b), address(c)]
    const [aRow, aStep, bStep, cRow] = [a.row * FLOAT, a.column * FLOAT, b.row * FLOAT, c.row * FLOAT]
    const isPacked = rows >= PACK_ROWS || b.column !== 1
    let column = 0
    if (!isPacked)
      for (; column + WIDE_COLUMNS <= columns; column += WIDE_COLUMNS) {
        const offset = column * FLOAT
        wide(aStart, aRow, aStep, bStart + offset, bStep, cStart + offset, cRow, rows, inner)
      }
    for (; column + COLUMNS <= columns; column += COLUMNS) {
      const from = bStart + column * b.column * FLOAT
      const to = cStart + column * FLOAT
      if (isPacked) {
        packPanel(from, bStep, b.column * FLOAT, packed.byteOffset, inner)
        narrow(aStart, aRow, aStep, packed.byteOffset, COLUMNS * FLOAT, to, cRow, rows, inner)
      } else narrow(aStart, aRow, aStep, from, bStep, to, cRow, rows, inner)
    }
    if (column < columns)
      lastColumns(a, shifted(b, column * b.column), shifted(c, column), rows, inner, columns - column)
  }

  return {
    floats,
    multiplyAdd: (a, b, c, rows, inner, columns) => {
      for (let k = 0; k < inner; k += INNER)
        pass(shifted(a, k * a.column), shifted(b, k * b.row), c, rows, Math.min(INNER, inner - k), columns)
    },
  }
}

const shifted = (matrix: Matrix, by: number): Matrix => ({ ...matrix, start: matrix.start + by })

/** All of a matrix with contiguous rows. */
export const matrix = (floats: Floats, row: number, start = 0): Matrix => ({ floats, start, row, column: 1 })

export const transposed = ({ floats, start, row, column }: Matrix): Matrix => ({
  floats,
  start,
  row: column,
  column: row,
})
