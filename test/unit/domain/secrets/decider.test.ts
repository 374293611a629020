import assert from 'node:assert/strict'
import fc from 'fast-check'
import {
  type SecretCommand,
  secretDecider,
  type SecretState,
  type SecretEvent,
  type SecretUse,
} from '../../../../src/domain/secrets/secret.js'

const { initialState, evolve, decide } = secretDecider
const secret = { team: 'team', name: 'TOKEN' }

const after = (events: readonly SecretEvent[], from: SecretState = initialState()) =>
  events.reduce(evolve, from)
const typesOf = (events: readonly SecretEvent[]) => events.map(({ type }) => type)

const store = (
  version: number,
  request: string | null = null,
  usedFor: readonly SecretUse[] | null = null,
): SecretCommand => ({ type: 'StoreSecret', ...secret, version, request, usedFor })
const useFor = (...usedFor: readonly SecretUse[]): SecretCommand => ({
  type: 'ChangeSecretUses',
  ...secret,
  usedFor,
})
const destroy: SecretCommand = { type: 'DestroySecret', ...secret }

/** What commands make one after the other, each one's versions counted on from the state. */
const run = (steps: readonly ('store' | 'destroy')[]) => {
  let state = initialState()
  const events: SecretEvent[] = []
  for (const step of steps) {
    const decided = decide(state, step === 'store' ? store(state.version + 1) : destroy)
    events.push(...decided.events)
    state = after(decided.events, state)
  }
  return { state, events }
}

const arbitrarySteps = fc.array(fc.constantFrom('store' as const, 'destroy' as const), { maxLength: 30 })

describe('the decider of secrets', () => {
  it('stores first, rotates afterwards, and begins again behind what was destroyed', () => {
    const { events } = run(['store', 'store', 'destroy', 'store', 'store'])

    assert.deepEqual(
      events.map((event) => [event.type, 'version' in event.data ? event.data.version : undefined]),
      [
        ['SecretStored', 1],
        ['SecretRotated', 2],
        ['SecretDestroyed', undefined],
        ['SecretStored', 3],
        ['SecretRotated', 4],
      ],
    )
  })

  it('uses no version twice, and knows as live what was stored since it was destroyed last', () =>
    fc.assert(
      fc.property(arbitrarySteps, (steps) => {
        const { state, events } = run(steps)
        const versions = events.flatMap((event) => ('version' in event.data ? [event.data.version] : []))
        assert.deepEqual(
          versions,
          versions.map((_, index) => index + 1),
        )
        const since = steps.lastIndexOf('destroy') + 1
        assert.equal([...state.live.entries()].length, steps.length - since)
        assert.ok([...state.live].every((version) => version > state.destroyedUpTo))
      }),
    ))

  it('writes nothing when a request is repeated, whatever came after it', () =>
    fc.assert(
      fc.property(arbitrarySteps, arbitrarySteps, (before, later) => {
        let { state } = run(before)
        const { version } = state
        state = after(decide(state, store(version + 1, 'request')).events, state)
        for (const step of later)
          state = after(decide(state, step === 'store' ? store(state.version + 1) : destroy).events, state)
        assert.deepEqual(decide(state, store(state.version + 1, 'request')), { events: [] })
        assert.equal(state.requests.get('request'), version + 1)
      }),
    ))

  it('refuses a version that another request was faster with', () => {
    const { state } = run(['store', 'store'])
    for (const version of [1, 2]) assert.equal(decide(state, store(version)).refused?.kind, 'conflict')
    assert.deepEqual(typesOf(decide(state, store(5)).events), ['SecretRotated'])
  })

  it('keeps what a secret is for over rotations, and forgets it when the secret is destroyed', () => {
    const usesAfter = (...commands: readonly SecretCommand[]) =>
      commands.reduce((state, command) => after(decide(state, command).events, state), initialState()).usedFor
    assert.deepEqual(usesAfter(store(1)), ['webhooks', 'upstreams'])
    assert.deepEqual(usesAfter(store(1, null, ['scorers']), store(2)), ['scorers'])
    assert.deepEqual(usesAfter(store(1), useFor('scorers', 'webhooks'), store(2)), ['webhooks', 'scorers'])
    assert.deepEqual(usesAfter(store(1), useFor('scorers'), store(2, null, ['webhooks'])), ['webhooks'])
    assert.deepEqual(usesAfter(store(1, null, ['scorers']), destroy, store(2)), ['webhooks', 'upstreams'])
    const old = {
      type: 'SecretStored',
      data: { ...secret, version: 1, request: null, used_for: null },
    } as const
    assert.deepEqual(after([old]).usedFor, ['webhooks', 'upstreams'])
  })

  it('changes the uses once, and only of a secret that has a value', () => {
    const state = after(decide(initialState(), store(1)).events)
    const changed = decide(state, useFor('scorers', 'scorers', 'webhooks'))
    assert.deepEqual(changed.events, [
      { type: 'SecretUsesChanged', data: { ...secret, version: 1, used_for: ['webhooks', 'scorers'] } },
    ])
    assert.deepEqual(decide(after(changed.events, state), useFor('webhooks', 'scorers')), { events: [] })
    assert.equal(decide(initialState(), useFor('scorers')).refused?.kind, 'not-found')
    assert.equal(decide(run(['store', 'destroy']).state, useFor('scorers')).refused?.kind, 'not-found')
  })

  it('destroys once, and only what there was', () => {
    assert.equal(decide(initialState(), destroy).refused?.kind, 'not-found')
    const { state } = run(['store', 'destroy'])
    assert.deepEqual(decide(state, destroy), { events: [] })
  })
})
