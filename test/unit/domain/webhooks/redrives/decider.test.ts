import assert from 'node:assert/strict'
import fc from 'fast-check'
import { redriveDecider } from '../../../../../src/domain/webhooks/redrives/decider.js'
import { redriveEvents, type RedriveAsked } from '../../../../../src/domain/webhooks/redrives/events.js'
import { arbitraryOf } from '../../../../support/arbitrary-of-codec.js'

const { initialState, evolve, decide } = redriveDecider
const asking = (redrive: RedriveAsked) => ({ type: 'AskRedrive', redrive }) as const

describe('the decider of redrives', () => {
  it('keeps what was asked for once, and refuses anything else under the same id', () => {
    fc.assert(
      fc.property(arbitraryOf(redriveEvents.RedriveAsked), fc.nat(100), (redrive, more) => {
        const { events } = decide(initialState(), asking(redrive))
        assert.deepEqual(events, [{ type: 'RedriveAsked', data: redrive }])
        const asked = events.reduce(evolve, initialState())
        assert.deepEqual(decide(asked, asking(redrive)), { events: [] })
        const other = { ...redrive, after: `${redrive.after ?? ''}${more}` }
        assert.equal(decide(asked, asking(other)).refused?.kind, 'conflict')
      }),
    )
  })
})
