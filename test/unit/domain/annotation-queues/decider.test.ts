import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  type AnnotationQueueCommand,
  annotationQueueDecider,
  NO_CONTENT,
} from '../../../../src/domain/annotation-queues/queue.js'
import {
  annotationItemDecider,
  type AnnotationItemState,
  type AnnotationItemCommand,
  type ProgressState,
} from '../../../../src/domain/annotation-queues/item.js'
import type { Decider, DomainEvent } from '../../../../src/kernel/decider.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'

const now = '2026-01-01T00:00:00.000000Z' as Instant

const after = <State, Command, Event extends DomainEvent>(
  { initialState, decide, evolve }: Decider<State, Command, Event>,
  commands: readonly Command[],
): State =>
  commands.reduce((state, command) => decide(state, command).events.reduce(evolve, state), initialState())

describe('an annotation queue', () => {
  const of = { project_id: 'team/p', id: 'q', now }
  const content = { ...NO_CONTENT, name: 'q' }
  const create: AnnotationQueueCommand = { type: 'CreateAnnotationQueue', ...of, content, userId: 'ada' }
  const change: AnnotationQueueCommand = { type: 'ChangeAnnotationQueue', ...of, change: { name: 'b' } }
  const remove: AnnotationQueueCommand = { type: 'DeleteAnnotationQueue', ...of }
  const on = (given: readonly AnnotationQueueCommand[], command: AnnotationQueueCommand) => {
    const { events, refused } = annotationQueueDecider.decide(after(annotationQueueDecider, given), command)
    return refused?.kind ?? events.map(({ type }) => type)
  }

  it('writes nothing when a command is repeated', () => {
    assert.deepEqual(on([create], create), [])
    assert.deepEqual(on([create, change], create), [])
    assert.deepEqual(on([create, change], change), [])
  })

  it('refuses what comes before its creation or after its deletion', () => {
    for (const command of [change, remove]) {
      assert.equal(on([], command), 'not-found')
      assert.equal(on([create, remove], command), 'not-found')
    }
    assert.equal(on([create, remove], create), 'conflict')
    assert.equal(on([create], { ...create, content: { ...content, name: 'other' } }), 'conflict')
  })
})

describe('an item of an annotation queue', () => {
  const added = {
    project_id: 'team/p',
    queue_id: 'q',
    id: 'i',
    call_id: 'c',
    call_op_name: 'op',
    call_trace_id: 't',
    call_started_at: now,
    display_fields: [],
    added_by: 'ada',
    created_at: now,
  }
  const add: AnnotationItemCommand = { type: 'AddAnnotationItem', item: added }
  const to = (state: ProgressState, userId = 'bob'): AnnotationItemCommand => ({
    type: 'ProgressAnnotationItem',
    queue_id: 'q',
    state,
    userId,
    now,
  })
  const STATES = ['in_progress', 'completed', 'skipped'] as const
  const decided = (item: AnnotationItemState, command: AnnotationItemCommand) =>
    annotationItemDecider.decide(item, command)

  it('is added once', () => {
    assert.equal(decided(null, add).events.length, 1)
    assert.deepEqual(decided(after(annotationItemDecider, [add]), add), { events: [] })
  })

  it('is in progress at most once, and ends once, whatever reviewers send', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...STATES)), (states) => {
        let item = after(annotationItemDecider, [add])
        const written: ProgressState[] = []
        for (const state of states) {
          const before = item!.state
          const { events, refused } = decided(item, to(state))
          if (state === before) assert.deepEqual(events, [])
          else if (before === 'completed' || before === 'skipped' || state === 'in_progress')
            assert.equal(refused === undefined, before === 'unstarted')
          item = events.reduce(annotationItemDecider.evolve, item)
          if (events.length > 0) written.push(state)
        }
        assert.ok(written.filter((state) => state === 'in_progress').length <= 1)
        assert.ok(written.filter((state) => state !== 'in_progress').length <= 1)
        assert.ok(written.indexOf('in_progress') <= 0)
      }),
    )
  })

  it('is not known before it is added, nor in another queue', () => {
    assert.equal(decided(null, to('completed')).refused?.kind, 'not-found')
    const item = after(annotationItemDecider, [add])
    const elsewhere = { ...to('completed'), queue_id: 'other' } as AnnotationItemCommand
    assert.equal(decided(item, elsewhere).refused?.kind, 'not-found')
  })
})
