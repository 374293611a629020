import assert from 'node:assert/strict'
import { ended, figures, started, tokens } from './given.js'
import type { Operation } from './operations.js'
import { answer } from './oracle.js'

const js = { source: 'js-sdk' } as const
const one = { m: tokens(10, 2, 12, 1) }
const two = { m: tokens(20, 4, 24, 2) }
const deleted = (...call_ids: Array<string>): Operation => ({ kind: 'delete', call_ids })
const idsOf = (operations: ReadonlyArray<Operation>, filter = {}) =>
  Object.keys(answer(operations, { filter }).call_usage).toSorted()

describe('the usage oracle: what stands', () => {
  it('lets the first start and the first end stand', () => {
    const { call_usage } = answer([
      ended('a', 1, one),
      started('a'),
      ended('a', 1, two),
      started('a', { trace: 'u', in: 'b' }),
    ])
    assert.deepEqual(call_usage, { a: { m: figures(10, 2, 12, 1) } })
  })

  it('shows a call only once its start is known', () => {
    assert.deepEqual(idsOf([ended('a', 1, one)]), [])
    assert.deepEqual(idsOf([ended('a', 1, one), started('a')]), ['a'])
  })

  it('gives a start without trace that of a parent known by then, else its own id', () => {
    const parent = started('parent')
    const child = started('child', { in: 'parent', trace: '' })
    assert.deepEqual(idsOf([parent, child], { trace_ids: ['t'] }), ['child', 'parent'])
    assert.deepEqual(idsOf([child, parent, child], { trace_ids: ['t'] }), ['parent'])
    assert.deepEqual(idsOf([child, parent], { trace_ids: ['child'] }), ['child'])
    assert.deepEqual(idsOf([ended('parent', 1), child], { trace_ids: ['child'] }), ['child'])
    assert.deepEqual(idsOf([started('self', { in: 'self', trace: null })], { trace_ids: ['self'] }), ['self'])
  })

  it('keeps a lone surrogate as U+FFFD', () => {
    assert.deepEqual(idsOf([started('x\ud800'), started('x\ufffd')]), ['x\ufffd'])
  })
})

describe('the usage oracle: deletes', () => {
  const tree = [
    started('root', js),
    started('child', { in: 'root', ...js }),
    started('grandchild', { in: 'child', ...js }),
    started('stranger', { in: 'child', trace: 'u', ...js }),
    ended('grandchild', 1, one),
    ended('child', 2, one),
    ended('root', 3, two),
  ]

  it('takes the descendants along, within the trace', () => {
    assert.deepEqual(idsOf([...tree, deleted('child', 'nobody')]), ['root', 'stranger'])
  })

  it('subtracts a deleted child from its SDK parent all the same', () => {
    assert.deepEqual(answer([...tree, deleted('child')]).call_usage.root, { m: figures(10, 2, 12, 1) })
  })

  it('changes nothing for a deleted id that is sent again', () => {
    const again = [...tree, deleted('child'), ...tree]
    assert.deepEqual(idsOf(again), ['root', 'stranger'])
    assert.deepEqual(answer(again), answer([...tree, deleted('child')]))
  })

  it('keeps a child that comes later, with a parent that is not there', () => {
    const later = [
      ...tree,
      deleted('child'),
      started('late', { in: 'child', trace: null }),
      ended('late', 9, one),
    ]
    assert.deepEqual(idsOf(later, { trace_ids: ['t'] }), ['late', 'root'])
    assert.deepEqual(answer(later).call_usage.root, { m: figures(10, 2, 12, 1) })
  })

  it('leaves an id of which nothing is known free for a later start', () => {
    assert.deepEqual(idsOf([deleted('a'), started('a')]), ['a'])
    assert.deepEqual(idsOf([ended('a', 1), deleted('a'), started('a')]), [])
  })

  it('takes what came below a deleted call since, if that is deleted again', () => {
    const later = [started('a'), deleted('a'), started('b', { in: 'a' })]
    assert.deepEqual(idsOf(later), ['b'])
    assert.deepEqual(idsOf([...later, deleted('a')]), [])
  })

  it('takes a whole cycle, and one with itself', () => {
    const cycle = [
      started('a', { in: 'b' }),
      started('b', { in: 'a' }),
      started('c', { in: 'b' }),
      started('d', { in: 'd' }),
      started('e', { in: 'd' }),
    ]
    assert.deepEqual(idsOf([...cycle, deleted('a')]), ['d', 'e'])
    assert.deepEqual(idsOf([...cycle, deleted('d')]), ['a', 'b', 'c'])
  })
})
