import assert from 'node:assert/strict'
import { ended, figures, started, tokens } from './given.js'
import { answer } from './oracle.js'

describe('the usage oracle: sums over descendants', () => {
  it('rolls up by model and folds both names of a count', () => {
    const { call_usage } = answer([
      started('root'),
      started('child-a', { in: 'root' }),
      started('child-b', { in: 'root' }),
      started('grandchild', { in: 'child-a' }),
      started('malformed'),
      ended('root', 9, { 'gpt-4': tokens(10, 5, 15, 1) }),
      ended('child-a', 8, { 'gpt-4': { input_tokens: 2, output_tokens: 3 } }),
      ended('child-b', 7, { 'gpt-3': tokens(7, 0, 7, 1) }),
      ended('grandchild', 6, { 'gpt-4': tokens(1, 1, 2, 1) }),
      ended('malformed', 5, 'oops'),
    ])

    assert.deepEqual(call_usage, {
      root: { 'gpt-4': figures(13, 9, 22, 2), 'gpt-3': figures(7, 0, 7, 1) },
      'child-a': { 'gpt-4': figures(3, 4, 7, 1) },
      'child-b': { 'gpt-3': figures(7, 0, 7, 1) },
      grandchild: { 'gpt-4': figures(1, 1, 2, 1) },
      malformed: {},
    })
  })

  it('counts descendants that the filter leaves out', () => {
    const operations = [
      started('root'),
      started('child', { in: 'root' }),
      started('grandchild', { in: 'child' }),
      ended('root', 9, { m: tokens(5, 5, 10, 0) }),
      ended('child', 8, { m: { input_tokens: 2, output_tokens: 1 } }),
      ended('grandchild', 7, { m: tokens(3, 1, 4, 0) }),
    ]

    assert.deepEqual(answer(operations, { filter: { call_ids: ['root', 'child'] } }).call_usage, {
      root: { m: figures(10, 7, 17, 0) },
      child: { m: figures(5, 2, 7, 0) },
    })
  })

  it('passes through a middle without a summary of its own', () => {
    const { call_usage, unfinished_call_ids } = answer([
      started('root'),
      started('middle', { in: 'root' }),
      started('leaf', { in: 'middle' }),
      ended('root', 3),
      ended('leaf', 2, { m: tokens(1, 2, 3, 1) }),
    ])

    assert.deepEqual(call_usage.root, { m: figures(1, 2, 3, 1) })
    assert.deepEqual(call_usage.middle, { m: figures(1, 2, 3, 1) })
    assert.deepEqual(unfinished_call_ids, ['middle'])
  })

  it('counts each member of a cycle, and what hangs below it, once', () => {
    const { call_usage } = answer([
      started('a', { in: 'b' }),
      started('b', { in: 'a' }),
      started('self', { in: 'self' }),
      started('below', { in: 'b' }),
      ended('a', 1, { m: tokens(1, 0, 1, 1) }),
      ended('b', 1, { m: tokens(10, 0, 10, 1) }),
      ended('self', 1, { m: tokens(7, 0, 7, 1) }),
      ended('below', 1, { m: tokens(100, 0, 100, 1) }),
    ])

    assert.deepEqual(call_usage, {
      a: { m: figures(111, 0, 111, 3) },
      b: { m: figures(111, 0, 111, 3) },
      self: { m: figures(7, 0, 7, 1) },
      below: { m: figures(100, 0, 100, 1) },
    })
  })

  it('takes a child that names another trace for a root of its own', () => {
    const { call_usage } = answer([
      started('root'),
      started('stranger', { in: 'root', trace: 'u' }),
      started('nephew', { in: 'stranger' }),
      ended('root', 9, { m: tokens(1, 0, 1, 1) }),
      ended('stranger', 8, { m: tokens(2, 0, 2, 1) }),
      ended('nephew', 7, { m: tokens(4, 0, 4, 1) }),
    ])

    assert.deepEqual(call_usage, {
      root: { m: figures(1, 0, 1, 1) },
      stranger: { m: figures(2, 0, 2, 1) },
      nephew: { m: figures(4, 0, 4, 1) },
    })
  })

  it('reads odd figures as section 3 says', () => {
    const odd = { requests: true, prompt_tokens: ' 12 ', input_tokens: '+7', completion_tokens: 3.9 }
    const none = { prompt_tokens: '1e3', completion_tokens: 'x', requests: null, total_tokens: [4] }
    const { call_usage } = answer([
      started('a'),
      ended('a', 1, {
        odd: { ...odd, output_tokens: -1.9, total_tokens: 1e300, cache_read_input_tokens: '-3' },
        none,
        '': { cache_creation_input_tokens: 1 },
        list: [{ requests: 1 }],
        text: 'requests',
      }),
    ])

    const unrecognized_usage = 1
    assert.deepEqual(call_usage.a, {
      odd: { ...figures(19, 3, 2 ** 53, 1), unrecognized_usage },
      none: { ...figures(0, 0, 0, 0), unrecognized_usage },
      '': figures(1, 0, 1, 0, 0, 1),
    })
  })

  it('clamps a sum only once it is summed', () => {
    const { call_usage } = answer([
      started('a'),
      started('b', { in: 'a' }),
      ended('a', 1, { m: { requests: 1e300 } }),
      ended('b', 1, { m: { requests: 5 } }),
    ])

    assert.deepEqual(call_usage.a, { m: figures(0, 0, 0, 2 ** 53) })
  })

  it('takes __proto__ and constructor for models and ids like any other', () => {
    const usage = JSON.parse('{"__proto__":{"requests":1},"constructor":{"requests":2}}')
    const { call_usage } = answer([started('__proto__'), ended('__proto__', 1, usage)])

    assert.deepEqual(Object.keys(call_usage), ['__proto__'])
    const entries = Object.entries(Object.values(call_usage)[0]!)
    assert.deepEqual(entries, [
      ['__proto__', figures(0, 0, 0, 1)],
      ['constructor', figures(0, 0, 0, 2)],
    ])
  })
})

describe('the usage oracle: which calls are answered', () => {
  const three = [
    started('late', { at: 2 }),
    started('b', { at: 1, in: 'late', more: { started_at: '2025-01-01T02:00:01.000000+02:00' } }),
    started('a', { at: 1 }),
    ended('late', 3),
  ]

  it('limits in the order of instant, then id, and says how many more', () => {
    const one = answer(three, { limit: 1 })
    assert.deepEqual(Object.keys(one.call_usage), ['a'])
    assert.equal(one.truncated, 2)
    assert.deepEqual(Object.keys(answer(three, { limit: 2 }).call_usage), ['a', 'b'])
    assert.equal(answer(three, { limit: 3 }).truncated, 0)
  })

  it('names the unfinished it answers and those below, sorted, and counts those below', () => {
    assert.deepEqual(answer(three).unfinished_call_ids, ['a', 'b'])
    assert.equal(answer(three).unfinished_descendants, 1)
    const late = answer(three, { filter: { call_ids: ['late'] } })
    assert.deepEqual(late.unfinished_call_ids, ['b'])
    assert.equal(late.unfinished_descendants, 1)
  })

  it('takes an empty list for no filter, roots for calls without a parent', () => {
    const ids = (filter: object) => Object.keys(answer(three, { filter }).call_usage).toSorted()
    assert.deepEqual(ids({ trace_ids: [], call_ids: null }), ['a', 'b', 'late'])
    assert.deepEqual(ids({ trace_roots_only: true }), ['a', 'late'])
    assert.deepEqual(ids({ parent_ids: ['late', 'nobody'] }), ['b'])
    assert.deepEqual(ids({ parent_ids: ['late'], trace_roots_only: true }), [])
    assert.deepEqual(ids({ trace_ids: ['x'] }), [])
  })

  it('finds ops by full reference, by version star and by plain name', () => {
    const op = (id: string, op_name: string) => started(id, { more: { op_name } })
    const operations = [
      op('v1', 'weave:///team/project/op/a_b:v1'),
      op('v2', 'weave:///team/project/op/a_b:v2'),
      op('other', 'weave:///team/project/op/aXb:v1'),
      op('plain', 'a_b'),
    ]
    const ids = (...op_names: Array<string>) =>
      Object.keys(answer(operations, { filter: { op_names } }).call_usage).toSorted()

    assert.deepEqual(ids('weave:///team/project/op/a_b:*'), ['v1', 'v2'])
    assert.deepEqual(ids('weave:///team/project/op/a_b:v2'), ['v2'])
    assert.deepEqual(ids('a_b'), ['plain', 'v1', 'v2'])
    assert.deepEqual(ids('a_b', 'aXb'), ['other', 'plain', 'v1', 'v2'])
  })

  it('finds threads, turns, runs and references', () => {
    const ref = 'weave:///team/project/object/o:v1'
    const operations = [
      started('a', {
        more: { thread_id: 'x', turn_id: 'y', wb_run_id: 'team/project/r', inputs: { deep: [{ ref }] } },
      }),
      started('b', { more: { thread_id: '', wb_run_id: 'r2' } }),
    ]
    const ids = (filter: object) => Object.keys(answer(operations, { filter }).call_usage)

    assert.deepEqual(ids({ thread_ids: ['x'], turn_ids: ['y'] }), ['a'])
    assert.deepEqual(ids({ wb_run_ids: ['r'] }), ['a'])
    assert.deepEqual(ids({ wb_run_ids: ['team/project/r2'] }), ['b'])
    assert.deepEqual(ids({ input_refs: ['weave:///team/project/object/o:*'] }), ['a'])
    assert.deepEqual(ids({ output_refs: [ref] }), [])
  })
})
