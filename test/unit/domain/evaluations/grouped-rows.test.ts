import assert from 'node:assert/strict'
import fc from 'fast-check'
import { newRowGroups, type RowOrder } from '../../../../src/domain/evaluations/grouped-rows.js'

const row = (id: string, exampleDigest: string, score: unknown = null) => ({
  id,
  exampleDigest,
  scores: { 'a.b': { c: score as number } },
  exception: null,
  example: { n: id },
  output: null,
})

const order = (more: Partial<RowOrder> = {}): RowOrder => ({
  field: 'scores.a.b.c',
  direction: 'asc',
  run: null,
  mode: 'value',
  ...more,
})

const sorted = (orders: readonly RowOrder[], runs: readonly (readonly [string, unknown][])[]) => {
  const groups = newRowGroups(runs.length, orders)
  for (const [run, rows] of runs.entries())
    for (const [digest, score] of rows) {
      const one = row(`${run}${digest}`, digest, score)
      groups.add(run, one, one)
    }
  return groups.result(false).map(({ digest }) => digest)
}

describe('rows of several runs', () => {
  it('are grouped by their example, each row once, in the order of the digests', () => {
    const rows = fc.array(fc.tuple(fc.nat(2), fc.constantFrom('a', 'b', 'c', 'd')))
    fc.assert(
      fc.property(rows, (added) => {
        const groups = newRowGroups(3)
        for (const [at, [run, digest]] of added.entries())
          groups.add(run, { id: `${at}`, exampleDigest: digest })
        const all = groups.result(false)
        const digests = all.map(({ digest }) => digest)
        assert.deepEqual(digests, [...new Set(added.map(([, digest]) => digest))].sort())
        for (const { digest, rows } of all)
          for (const [run, ids] of rows.entries())
            assert.deepEqual(
              ids,
              added.flatMap((one, at) => (one[0] === run && one[1] === digest ? [`${at}`] : [])),
            )
        const inAll = all.filter(({ rows }) => rows.every((ids) => ids.length > 0))
        assert.deepEqual(groups.result(true), inAll)
      }),
    )
  })

  const RUNS = [
    [
      ['a', 2],
      ['b', 1],
      ['c', null],
      ['d', 'text'],
    ],
    [
      ['a', 2],
      ['b', 9],
      ['c', 5],
      ['e', true],
    ],
  ] as const satisfies readonly (readonly [string, unknown][])[]

  it('are sorted by a score, those without one last', () => {
    assert.deepEqual(sorted([order()], RUNS), ['b', 'e', 'a', 'd', 'c'])
    assert.deepEqual(sorted([order({ direction: 'desc' })], RUNS), ['a', 'b', 'e', 'd', 'c'])
  })

  it('are sorted by numbers that are written as text, before other text, in both directions', () => {
    const run: [string, unknown][] = [
      ['a', '10'],
      ['b', 9],
      ['c', 'x'],
      ['d', ' 1e1 '],
      ['e', '-0.5'],
      ['f', 'y'],
      ['g', ''],
    ]
    assert.deepEqual(sorted([order()], [run]).join(''), 'ebadgcf')
    assert.deepEqual(sorted([order({ direction: 'desc' })], [run]).join(''), 'adbefcg')
  })

  it('are sorted by the score of one run', () => {
    assert.deepEqual(sorted([order({ run: 1 })], RUNS), ['e', 'a', 'c', 'b', 'd'])
  })

  it('are sorted by the difference between runs', () => {
    assert.deepEqual(sorted([order({ mode: 'difference', direction: 'desc' })], RUNS), [
      'b',
      'a',
      'c',
      'e',
      'd',
    ])
  })

  it('are sorted by inputs', () => {
    assert.deepEqual(sorted([order({ field: 'inputs.n', direction: 'desc' })], RUNS), [
      'e',
      'd',
      'c',
      'b',
      'a',
    ])
  })
})
