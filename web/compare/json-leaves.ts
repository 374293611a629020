import { childrenOf, spanText, stringOf, valueAt, type JsonChild } from '../kit/json-scan.js'

export interface JsonDifference {
  /** Such as `messages[0].content`; '' for the whole value. */
  readonly path: string
  /** As it was written, texts without quotes; undefined where there is no such value. */
  readonly left: string | undefined
  readonly right: string | undefined
}

/** More values of a side are not compared. */
export const MAX_LEAVES = 5000
const MAX_DEPTH = 64
/** Reading larger texts takes too long for a page. */
const MAX_TEXT = 2_000_000

const NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u

const pathOf = (parent: string, { key }: JsonChild, index: number): string => {
  if (key === null) return `${parent}[${index}]`
  if (!NAME.test(key)) return `${parent}[${JSON.stringify(key)}]`
  return parent === '' ? key : `${parent}.${key}`
}

/** The values of JSON that contain no others, by path. */
const leavesOf = (
  text: string,
): { readonly leaves: ReadonlyMap<string, string>; readonly isCut: boolean } => {
  const leaves = new Map<string, string>()
  if (text.length > MAX_TEXT) return { leaves, isCut: true }
  let isCut = false
  const add = (child: JsonChild, path: string, depth: number): void => {
    if (leaves.size >= MAX_LEAVES) {
      isCut = true
      return
    }
    const isContainer = child.kind === 'object' || child.kind === 'array'
    const children = isContainer && depth < MAX_DEPTH ? childrenOf(text, child, MAX_LEAVES + 1) : []
    if (children.length === 0) {
      const written = spanText(text, child)
      leaves.set(path, child.kind === 'string' ? stringOf(written) : written)
    }
    for (const [index, one] of children.entries()) add(one, pathOf(path, one, index), depth + 1)
  }
  add(valueAt(text, 0), '', 0)
  return { leaves, isCut }
}

/** All values of two JSON texts side by side, by path. `isCut` if a side has more than are compared. */
export const jsonDifferences = (
  left: string,
  right: string,
): { readonly rows: readonly JsonDifference[]; readonly isCut: boolean } => {
  const [a, b] = [leavesOf(left), leavesOf(right)]
  const paths = new Set([...a.leaves.keys(), ...b.leaves.keys()])
  const rows = [...paths].map((path) => ({ path, left: a.leaves.get(path), right: b.leaves.get(path) }))
  return { rows, isCut: a.isCut || b.isCut }
}
