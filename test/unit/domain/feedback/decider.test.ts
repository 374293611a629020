import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import {
  type FeedbackCommand,
  feedbackDecider,
  type FeedbackState,
  feedbackGiven,
  type FeedbackEvent,
} from '../../../../src/domain/feedback/feedback.js'
import { arbitraryOf } from '../../../support/arbitrary-of-codec.js'

const { initialState, evolve, decide } = feedbackDecider
const now = '2026-01-01T00:00:00.000000Z' as Instant
const later = '2026-01-02T00:00:00.000000Z' as Instant

const after = (events: readonly FeedbackEvent[], from: FeedbackState = initialState()) =>
  events.reduce(evolve, from)

const arbitraryGiving = arbitraryOf(feedbackGiven).map(
  ({
    created_at: _when,
    wb_user_id: _user,
    erased: _erased,
    ...content
  }): FeedbackCommand & { type: 'GiveFeedback' } => ({ type: 'GiveFeedback', content, userId: 'ada', now }),
)

describe('the decider of feedback', () => {
  it('records what is given once, whoever repeats it whenever', () =>
    fc.assert(
      fc.property(arbitraryGiving, (giving) => {
        const { events } = decide(initialState(), giving)
        assert.deepEqual(
          events.map(({ type }) => type),
          ['FeedbackGiven'],
        )
        const again = structuredClone({ ...giving, userId: 'bob', now: later })
        assert.deepEqual(decide(after(events), again), { events: [] })
      }),
    ))

  it('lets the first of two that differ stand', () =>
    fc.assert(
      fc.property(arbitraryGiving, (giving) => {
        const state = after(decide(initialState(), giving).events)
        const content = { ...giving.content, feedback_type: `${giving.content.feedback_type}x` }
        const { events, refused } = decide(state, { ...giving, content })
        assert.deepEqual([events, refused?.kind], [[], 'conflict'])
      }),
    ))

  const ofOne = { project_id: 'team/project', id: 'f' }
  const going: readonly FeedbackCommand[] = [
    { type: 'PurgeFeedback', ...ofOne },
    { type: 'ReplaceFeedback', ...ofOne, replaced_by: 'g' },
  ]
  for (const command of going)
    it(`takes ${command.type} once, and of what there is alone`, () =>
      fc.assert(
        fc.property(arbitraryGiving, (giving) => {
          assert.deepEqual(decide(initialState(), command), { events: [] })
          const given = after(decide(initialState(), giving).events)
          const { events } = decide(given, command)
          assert.equal(events.length, 1)
          const gone = after(events, given)
          for (const again of going) assert.deepEqual(decide(gone, again), { events: [] })
          const { events: none, refused } = decide(gone, giving)
          assert.deepEqual([none, refused?.kind], [[], 'conflict'])
        }),
        { numRuns: 20 },
      ))
})
