import assert from 'node:assert/strict'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { ObjectCommand } from '../../../../src/domain/objects/commands.js'
import { objectDecider } from '../../../../src/domain/objects/decider.js'
import type { ObjectEvent } from '../../../../src/domain/objects/events.js'
import type { ObjectState } from '../../../../src/domain/objects/state.js'
import { weaveDigest } from '../../../../src/domain/objects/weave-digest.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { doDeed, type Deed, type Model, type Name } from '../../../support/object-model.js'

const digestOf = (content: number): string => weaveDigest(String(content).padStart(64, '0'))
export const text = (name: Name) => (typeof name === 'number' ? digestOf(name) : name)
const TIME = '2026-01-01T00:00:00.123456Z' as Instant

const commandOf = (project_id: string, deed: Deed): ObjectCommand => {
  const ofObject = { project_id, object_id: deed.object, wb_user_id: 'ada' }
  switch (deed.kind) {
    case 'publish': {
      const val = { content: deed.content, "it's": '\u0000\\' }
      const classes = { kind: 'object', base_object_class: null, leaf_object_class: null } as const
      const content = {
        ...ofObject,
        ...classes,
        digest: digestOf(deed.content),
        val,
        created_at: TIME,
        spilled: {},
      }
      return { type: 'PublishObject', content }
    }
    case 'delete':
      return {
        type: 'DeleteVersions',
        ...ofObject,
        versions: deed.versions?.map(text) ?? null,
        deleted_at: TIME,
      }
    case 'tag':
      return { type: 'AddTags', ...ofObject, version: text(deed.version), tags: deed.labels }
    case 'untag':
      return { type: 'RemoveTags', ...ofObject, version: text(deed.version), tags: deed.labels }
    case 'alias':
      return { type: 'SetAliases', ...ofObject, version: text(deed.version), aliases: deed.labels }
    case 'unalias':
      return { type: 'RemoveAliases', ...ofObject, aliases: deed.labels }
  }
}

/** The events of the deeds, in a log of their own, and what the model says after each deed. */
export const logOf = (project: string, deeds: readonly Deed[]) => {
  const states = new Map<string, ObjectState>()
  const model: Model = new Map()
  const events: ProjectedEvent[] = []
  const moments: { readonly position: bigint; readonly model: Model }[] = []
  for (const deed of deeds) {
    const state = states.get(deed.object) ?? objectDecider.initialState()
    const decided = objectDecider.decide(state, commandOf(project, deed))
    assert.equal(decided.refused === undefined, doDeed(model, deed))
    for (const event of decided.events)
      events.push({
        ...(JSON.parse(JSON.stringify(event)) as ObjectEvent),
        position: BigInt(events.length + 1),
      })
    states.set(deed.object, decided.events.reduce(objectDecider.evolve, state))
    moments.push({ position: BigInt(events.length), model: structuredClone(model) })
  }
  return { events, moments }
}
