import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { CreateRegistry } from '../../../../src/domain/artifacts/commands.js'
import { registryEvents } from '../../../../src/domain/artifacts/events.js'
import { registryDecider } from '../../../../src/domain/artifacts/registry.js'

const { initialState, evolve, decide } = registryDecider

const arbitraryCreation: fc.Arbitrary<CreateRegistry> = fc.record({
  type: fc.constant('CreateRegistry'),
  team: fc.constant('red'),
  registry: fc.constantFrom('models', 'data', 'prompts'),
  id: fc.constantFrom('1', '2', '3', '4'),
})

describe("the decider of a team's registries", () => {
  it('gives a name to the first who asks, and an id to one name', () =>
    fc.assert(
      fc.property(fc.array(arbitraryCreation, { maxLength: 12 }), (commands) => {
        const [names, ids] = [new Map<string, string>(), new Map<string, string>()]
        let state = initialState()
        for (const command of commands) {
          const { registry, id } = command
          const isFree = !names.has(registry) && !ids.has(id)
          const { events, refused } = decide(state, command)
          assert.equal(events.length, isFree ? 1 : 0)
          assert.equal(refused?.kind, isFree || names.get(registry) === id ? undefined : 'conflict')
          for (const { type, data } of events) assert.ok(registryEvents[type].is(data))
          state = events.reduce(evolve, state)
          if (isFree) {
            names.set(registry, id)
            ids.set(id, registry)
          }
          assert.deepEqual([...state.ids].sort(), [...names].sort())
          assert.equal(state.ids.size, names.size)
        }
      }),
    ))
})
