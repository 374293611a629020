import fc from 'fast-check'
import type { LabelCommand } from '../../../../src/domain/artifacts/commands.js'
import type { CollectionPlace } from '../../../../src/domain/artifacts/place.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'

export const NOW = '2026-01-01T00:00:00.000000Z' as Instant

export const inProject: CollectionPlace = {
  team: 'red',
  collection: 'model',
  project_id: 'red/project',
  registry: null,
}

export const inRegistry: CollectionPlace = { ...inProject, project_id: null, registry: 'models' }

export const someAlias = fc.constantFrom('a', 'b', 'latest', '__proto__')
const someTag = fc.constantFrom('x', 'y', 'constructor')
export const someVersion = fc.oneof(fc.constantFrom('v0', 'v1', 'v2', 'v9', 'v01', 'nothing'), someAlias)

export const arbitraryLabelling = (place: CollectionPlace): fc.Arbitrary<LabelCommand> =>
  fc.oneof(
    fc
      .record({
        description: fc.constantFrom(undefined, null, 'one', 'other'),
        tagsToAdd: fc.array(someTag, { maxLength: 2 }),
      })
      .map((varied) => ({ type: 'DescribeCollection' as const, place, ...varied })),
    fc.record({
      type: fc.constant('SetAlias' as const),
      place: fc.constant(place),
      version: someVersion,
      alias: someAlias,
    }),
    fc.record({ type: fc.constant('RemoveAlias' as const), place: fc.constant(place), alias: someAlias }),
    fc.record({
      type: fc.constantFrom('AddTag' as const, 'RemoveTag' as const),
      place: fc.constant(place),
      version: someVersion,
      tag: someTag,
    }),
  )
