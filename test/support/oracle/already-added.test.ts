import assert from 'node:assert/strict'
import { ended, figures, started, tokens } from './given.js'
import type { Operation, UsageReporting } from './operations.js'
import { answer } from './oracle.js'

const js = { source: 'js-sdk' } as const
const python = { source: 'python-sdk' } as const
const one = { m: tokens(10, 2, 12, 1) }
const two = { m: tokens(20, 4, 24, 2) }
const three = { m: tokens(30, 6, 36, 3) }
const reporting = (usage_reporting: UsageReporting): Operation => ({ kind: 'reporting', usage_reporting })

const usageOf = (operations: ReadonlyArray<Operation>, id: string) => answer(operations).call_usage[id]

/** A root that an SDK ended with the sum of its two children. */
const star = (source: 'js-sdk' | 'python-sdk' | null, ofRoot: object = two): ReadonlyArray<Operation> => [
  started('root', { source }),
  started('left', { in: 'root', source }),
  started('right', { in: 'root', source }),
  ended('left', 1, one),
  ended('right', 2, one),
  ended('root', 2, { ...ofRoot }),
]

describe('the usage oracle: what is already added', () => {
  it('counts a star that an SDK summed once', () => {
    assert.deepEqual(usageOf(star('js-sdk'), 'root'), { m: figures(20, 4, 24, 2) })
    assert.deepEqual(usageOf(star('python-sdk'), 'root'), { m: figures(20, 4, 24, 2) })
  })

  it('counts the same star in full where no SDK wrote it', () => {
    assert.deepEqual(usageOf(star(null), 'root'), { m: figures(40, 8, 48, 4) })
  })

  it('keeps what a root used itself', () => {
    assert.deepEqual(usageOf(star('js-sdk', three), 'root'), { m: figures(30, 6, 36, 3) })
  })

  it('never goes below 0 where a root claims less than its children', () => {
    assert.deepEqual(usageOf(star('js-sdk', one), 'root'), { m: figures(20, 4, 24, 2) })
  })

  it('counts a chain of three once at each level', () => {
    const chain = [
      started('a', js),
      started('b', { in: 'a', ...js }),
      started('c', { in: 'b', ...js }),
      ended('c', 1, one),
      ended('b', 2, two),
      ended('a', 3, two),
    ]

    assert.deepEqual(answer(chain).call_usage, {
      a: { m: figures(20, 4, 24, 2) },
      b: { m: figures(20, 4, 24, 2) },
      c: { m: figures(10, 2, 12, 1) },
    })
  })

  it('takes no child that another source wrote, that ended later, has not ended or knows another model', () => {
    const under = (child: ReadonlyArray<Operation>) =>
      usageOf([started('root', js), ended('root', 5, { m: { requests: 5 } }), ...child], 'root')
    const all = (requests: number) => ({ m: figures(0, 0, 0, requests) })
    const usage = { m: { requests: 2 } }

    assert.deepEqual(under([started('k', { in: 'root', ...js }), ended('k', 5, usage)]), all(5))
    assert.deepEqual(under([started('k', { in: 'root', ...python }), ended('k', 5, usage)]), all(7))
    assert.deepEqual(under([started('k', { in: 'root', ...js }), ended('k', 6, usage)]), all(7))
    assert.deepEqual(under([started('k', { in: 'root', ...js })]), all(5))
    assert.deepEqual(under([started('k', { in: 'root', ...js }), ended('k', 5, { ...usage, n: {} })]), all(7))
    assert.deepEqual(under([started('k', { in: 'root', trace: 'u', ...js }), ended('k', 5, usage)]), all(5))
  })

  it('takes a completion of the gateway as its parent’s SDK would, and takes nothing as added to one', () => {
    const gateway = { source: 'gateway' } as const
    const under = (source: 'js-sdk' | 'python-sdk' | 'gateway' | null, child: object, at = 1) =>
      usageOf(
        [
          started('root', { source }),
          started('k', { in: 'root', ...child }),
          ended('k', at, one),
          ended('root', 2, one),
        ],
        'root',
      )

    assert.deepEqual(under('js-sdk', gateway), { m: figures(10, 2, 12, 1) })
    assert.deepEqual(under('python-sdk', gateway), { m: figures(10, 2, 12, 1) })
    assert.deepEqual(under('js-sdk', gateway, 3), { m: figures(10, 2, 12, 1) })
    assert.deepEqual(under(null, gateway), { m: figures(20, 4, 24, 2) })
    assert.deepEqual(under('gateway', gateway), { m: figures(20, 4, 24, 2) })
    assert.deepEqual(under('gateway', js), { m: figures(20, 4, 24, 2) })
  })

  it('asks for the key of a model, whatever stands behind it', () => {
    const operations = [
      started('root', js),
      started('k', { in: 'root', ...js }),
      ended('k', 1, { m: { requests: 1 }, n: {} }),
      ended('root', 2, { m: { requests: 1 }, n: ['oops'] }),
    ]

    assert.deepEqual(usageOf(operations, 'root'), { m: figures(0, 0, 0, 1) })
  })

  it('subtracts before it folds and falls back to a total', () => {
    const operations = [
      started('root', js),
      started('k', { in: 'root', ...js }),
      ended('k', 1, { m: { prompt_tokens: 4, total_tokens: 4 } }),
      ended('root', 2, { m: { prompt_tokens: 4, input_tokens: 3, total_tokens: 3 } }),
    ]

    assert.deepEqual(usageOf(operations, 'root'), { m: figures(7, 0, 7, 0) })
  })

  it('subtracts nothing from a member of its own cycle', () => {
    const operations = [
      started('a', { in: 'b', ...js }),
      started('b', { in: 'a', ...js }),
      started('hanging', { in: 'b', ...js }),
      ended('a', 1, one),
      ended('b', 1, one),
      ended('hanging', 1, one),
    ]

    assert.deepEqual(usageOf(operations, 'a'), { m: figures(20, 4, 24, 2) })
  })
})

describe('the usage oracle: status counts', () => {
  /** Evaluation.evaluate over two predict_and_score, each over a model and a scorer. */
  const evaluation = (ofRoot: object): ReadonlyArray<Operation> => [
    started('evaluate', python),
    ...['1', '2'].flatMap((row) => [
      started(`row-${row}`, { in: 'evaluate', ...python }),
      started(`model-${row}`, { in: `row-${row}`, ...python }),
      started(`scorer-${row}`, { in: `row-${row}`, ...python }),
      ended(`model-${row}`, 1, one, { success: 1, error: 0 }),
      ended(`scorer-${row}`, 2, {}, { success: 0, error: 1 }),
      ended(`row-${row}`, 3, one, { success: 2, error: 1 }),
    ]),
    ended('evaluate', 4, two, { ...ofRoot }),
  ]

  it('counts an evaluation whose counts add up once', () => {
    assert.deepEqual(usageOf(evaluation({ success: 5, error: 2 }), 'evaluate'), { m: figures(20, 4, 24, 2) })
    assert.deepEqual(usageOf(evaluation({ success: 7 }), 'row-1'), { m: figures(10, 2, 12, 1) })
  })

  it('takes no more children as added than the counts leave room for', () => {
    assert.deepEqual(usageOf(evaluation({ success: 4, error: 2 }), 'evaluate'), { m: figures(30, 6, 36, 3) })
    assert.deepEqual(usageOf(evaluation({}), 'evaluate'), { m: figures(40, 8, 48, 4) })
  })

  it('leaves out a child of another process, and no other', () => {
    const stranger = [
      started('stranger', { in: 'evaluate', ...python }),
      ended('stranger', 1, { m: tokens(7, 1, 8, 1) }, { success: 1 }),
    ]
    const all = [...evaluation({ success: 5, error: 2 }), ...stranger]
    assert.deepEqual(usageOf(all, 'evaluate'), { m: figures(27, 5, 32, 3) })
  })

  it('asks the counts of those children alone that would be added and carry some', () => {
    const operations = [
      ...star('python-sdk').slice(0, -1),
      started('stranger', { in: 'root' }),
      ended('stranger', 1, { m: { requests: 1 } }, { success: 9 }),
      ended('root', 2, two, { success: 1 }),
    ]

    assert.deepEqual(usageOf(operations, 'root'), { m: figures(20, 4, 24, 3) })
  })
})

describe('the usage oracle: how a project says it reports', () => {
  it('never subtracts under own', () => {
    assert.deepEqual(usageOf([...star('js-sdk'), reporting('own')], 'root'), { m: figures(40, 8, 48, 4) })
  })

  it('takes every child of the trace as added under rolled_up, whoever wrote it and when', () => {
    const operations = [
      started('root'),
      started('k', { in: 'root', ...python }),
      started('stranger', { in: 'root', trace: 'u' }),
      ended('root', 1, two),
      ended('k', 2, { ...one, n: { requests: 1 } }, { success: 5 }),
      ended('stranger', 1, one),
      reporting('own'),
      reporting('rolled_up'),
    ]

    assert.deepEqual(usageOf(operations, 'root'), { m: figures(20, 4, 24, 2), n: figures(0, 0, 0, 1) })
  })
})
