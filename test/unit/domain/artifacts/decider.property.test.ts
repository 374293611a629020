import assert from 'node:assert/strict'
import fc from 'fast-check'
import type { ArtifactCommand, RegisteredCommand } from '../../../../src/domain/artifacts/commands.js'
import { artifactDecider } from '../../../../src/domain/artifacts/decider.js'
import {
  artifactEvents,
  registeredEvents,
  type ArtifactEvent,
  type RegisteredEvent,
} from '../../../../src/domain/artifacts/events.js'
import { registeredDecider } from '../../../../src/domain/artifacts/registered-decider.js'
import type { AnyCodec } from '../../../../src/kernel/codec/codec.js'
import type { Decider } from '../../../../src/kernel/decider.js'
import { emptyCollection, type CollectionState } from '../../../../src/domain/artifacts/state.js'
import { arbitraryLabelling, inProject, inRegistry, NOW, someAlias, someVersion } from './arbitrary.js'
import { Model, seenIn } from './model.js'

const arbitraryCreation: fc.Arbitrary<ArtifactCommand> = fc
  .record({
    digest: fc.constantFrom('d1', 'd2', 'd3', 'd4'),
    artifact_id: fc.oneof(fc.uuid(), fc.constantFrom('repeated', 'again')),
    aliases: fc.array(someAlias, { maxLength: 3 }),
  })
  .map((varied) => ({
    type: 'CreateVersion',
    place: inProject,
    artifactType: null,
    metadata: {},
    files: null,
    uploaded: null,
    now: NOW,
    ...varied,
  }))

const arbitraryRepeating: fc.Arbitrary<ArtifactCommand> = fc
  .record({
    digest: fc.constantFrom('d1', 'd2', 'd3'),
    run_id: fc.constantFrom(null, 'one', 'other'),
    merged_id: fc.constantFrom(null, 'merged', 'merged too'),
    aliases: fc.array(someAlias, { maxLength: 3 }),
    tags: fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 }),
  })
  .map((varied) => ({ type: 'RepeatVersion', place: inProject, ...varied }))

const arbitraryLinking: fc.Arbitrary<RegisteredCommand> = fc.oneof(
  fc
    .record({
      artifact_id: fc.constantFrom('artifact-1', 'artifact-2', 'artifact-3'),
      link_id: fc.constantFrom(null, null, 'one', 'other'),
      aliases: fc.array(someAlias, { maxLength: 3 }),
      movesLatest: fc.boolean(),
      tags: fc.array(fc.constantFrom('good', 'bad'), { maxLength: 3 }),
    })
    .map(({ artifact_id, ...varied }) => ({
      type: 'LinkVersion' as const,
      place: inRegistry,
      artifactType: null,
      metadata: {},
      source: { project_id: 'red/project', collection: 'model', version: 0, artifact_id },
      ...varied,
    })),
  someVersion.map((version) => ({ type: 'UnlinkVersion' as const, place: inRegistry, version })),
)

const artifactDeeds = fc.array(
  fc.oneof(arbitraryCreation, arbitraryRepeating, arbitraryLabelling(inProject)),
  { maxLength: 25, size: 'max' },
)
const registeredDeeds = fc.array(fc.oneof(arbitraryLinking, arbitraryLabelling(inRegistry)), {
  maxLength: 25,
  size: 'max',
})

const fold =
  <Event>(evolve: (state: CollectionState, event: Event) => CollectionState) =>
  (events: readonly Event[]) =>
    events.reduce(evolve, emptyCollection())

const itKeepsTheLaws = <
  Command extends ArtifactCommand | RegisteredCommand,
  Event extends ArtifactEvent | RegisteredEvent,
>(
  { decide, evolve }: Decider<CollectionState, Command, Event>,
  codecs: Readonly<Record<string, AnyCodec>>,
  deeds: fc.Arbitrary<readonly Command[]>,
) => {
  const stateAfter = fold(evolve)

  it('does what people expect of it, whatever is asked in which order', () =>
    fc.assert(
      fc.property(deeds, (commands) => {
        const model = new Model()
        const events: Event[] = []
        for (const command of commands) {
          const decided = decide(stateAfter(events), command)
          events.push(...decided.events)
          assert.equal(decided.refused?.kind, model.run(command))
          assert.deepEqual(seenIn(stateAfter(events)), model.seen())
        }
      }),
    ))

  it('writes nothing the second time, and nothing when it refuses', () =>
    fc.assert(
      fc.property(deeds, (commands) => {
        const events: Event[] = []
        for (const command of commands) {
          const first = decide(stateAfter(events), command)
          events.push(...first.events)
          if (first.refused !== undefined) assert.deepEqual(first.events, [])
          // an alias may by now name what it was given to: what is named by it is then another version
          if ('version' in command && !/^v\d+$/.test(command.version)) continue
          assert.deepEqual(decide(stateAfter(events), command).events, [])
        }
      }),
    ))

  it('moves an alias by removing it where it was, and never adds one that is there', () =>
    fc.assert(
      fc.property(deeds, (commands) => {
        const points = new Map<string, number>()
        let state = emptyCollection()
        for (const command of commands)
          for (const event of decide(state, command).events) {
            state = evolve(state, event)
            if (event.type === 'AliasAdded') {
              assert.ok(!points.has(event.data.alias))
              points.set(event.data.alias, event.data.version)
            }
            if (event.type !== 'AliasRemoved') continue
            assert.equal(points.get(event.data.alias), event.data.version)
            points.delete(event.data.alias)
          }
      }),
    ))

  it('writes events that their codecs know, each to its place in the stream', () =>
    fc.assert(
      fc.property(deeds, (commands) => {
        const events: Event[] = []
        for (const command of commands) events.push(...decide(stateAfter(events), command).events)
        for (const { type, data } of events) assert.ok(codecs[type]!.is(data), type)
        const state = stateAfter(events)
        assert.equal(state.length, events.length)
        for (const [, { revision, version }] of state.versions.entries()) {
          const { type, data } = events[revision]!
          assert.ok(type === 'VersionCreated' || type === 'VersionLinked')
          assert.equal(data.version, version)
        }
      }),
    ))
}

describe("the decider of a project's collection", () => {
  itKeepsTheLaws(artifactDecider, artifactEvents, artifactDeeds)

  const create = (digest: string, aliases: readonly string[] = []): ArtifactCommand => ({
    type: 'CreateVersion',
    place: inProject,
    artifact_id: `id of ${digest}`,
    digest,
    artifactType: 'model',
    metadata: { a: 1 },
    files: null,
    uploaded: null,
    aliases,
    now: NOW,
  })
  const toldBy = (given: readonly ArtifactCommand[], command: ArtifactCommand) => {
    const { decide, evolve } = artifactDecider
    let state = emptyCollection()
    for (const one of given) state = decide(state, one).events.reduce(evolve, state)
    return decide(state, command).events.map(({ type, data }) => [
      type,
      ...('alias' in data ? [data.alias, data.version] : []),
    ])
  }

  it('creates the collection with its first version, and moves latest with each', () => {
    assert.deepEqual(toldBy([], create('one', ['best'])), [
      ['CollectionCreated'],
      ['VersionCreated'],
      ['AliasAdded', 'latest', 0],
      ['AliasAdded', 'best', 0],
    ])
    assert.deepEqual(toldBy([create('one', ['best'])], create('two', ['best'])), [
      ['VersionCreated'],
      ['AliasRemoved', 'latest', 0],
      ['AliasAdded', 'latest', 1],
      ['AliasRemoved', 'best', 0],
      ['AliasAdded', 'best', 1],
    ])
  })

  it('takes content that is there for what it is, with what aliases are new', () => {
    const given = [create('one'), create('two', ['best'])]
    assert.deepEqual(
      toldBy(given, { ...create('one', ['best', 'old']), artifact_id: 'another' } as ArtifactCommand),
      [
        ['AliasRemoved', 'best', 1],
        ['AliasAdded', 'best', 0],
        ['AliasAdded', 'old', 0],
      ],
    )
  })
})

describe("the decider of a registry's collection", () => {
  itKeepsTheLaws(registeredDecider, registeredEvents, registeredDeeds)
})
