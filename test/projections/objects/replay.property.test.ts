import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Instant } from '../../../src/domain/codec/instant.js'
import type { ObjectCommand } from '../../../src/domain/object/commands.js'
import { objectDecider } from '../../../src/domain/object/decider.js'
import type { ObjectEvent } from '../../../src/domain/object/events.js'
import type { ObjectState } from '../../../src/domain/object/state.js'
import type { ClickHouse } from '../../../src/domain/ports/clickhouse.js'
import { weaveDigest } from '../../../src/domain/weave-digest.js'
import { migrate } from '../../../src/projections/migrate.js'
import { objectsProjection } from '../../../src/projections/objects/project.js'
import {
  aliasesOf,
  objectValues,
  readVersion,
  tagsOf,
  versionPlaces,
  versionsAt,
  type StoredVersion,
} from '../../../src/projections/objects/queries.js'
import type { ProjectedEvent } from '../../../src/projections/projection.js'
import { openTestClickHouse } from '../../support/engine.js'
import {
  arbitraryDeeds,
  doDeed,
  NAMES,
  shown,
  versionNamed,
  type Deed,
  type Model,
  type Name,
} from '../../support/object-model.js'

const digestOf = (content: number): string => weaveDigest(String(content).padStart(64, '0'))
const text = (name: Name) => (typeof name === 'number' ? digestOf(name) : name)
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
const logOf = (project: string, deeds: readonly Deed[]) => {
  const states = new Map<string, ObjectState>()
  const model: Model = new Map()
  const events: ProjectedEvent[] = []
  const moments: { readonly position: bigint; readonly model: Model }[] = []
  for (const deed of deeds) {
    const state = states.get(deed.object) ?? objectDecider.initialState
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

describe('the rows of objects', function () {
  this.timeout(180_000)
  let clickHouse: ClickHouse
  before(async () => {
    clickHouse = await openTestClickHouse()
    await migrate(clickHouse.writer)
  })
  after(() => clickHouse.close())

  const insert = async (events: readonly ProjectedEvent[]) => {
    for (const rows of objectsProjection.rowsOf(events)) await clickHouse.writer.insert(rows)
  }

  const told = ({ version_index, val, is_latest, tags, aliases }: StoredVersion) => ({
    version_index,
    content: (JSON.parse(val ?? '') as { content: number }).content,
    is_latest: is_latest ? 1 : 0,
    tags,
    aliases: [...aliases, ...(is_latest ? ['latest'] : [])].sort(),
  })

  const check = async (projectId: string, position: bigint, model: Model) => {
    const { reader } = clickHouse
    const wanted = { withVal: true, withLabels: true }
    const question = { projectId, filter: null, position, sortBy: [], limit: null, offset: null }
    const places = await versionPlaces(reader)(question)
    const versions = await versionsAt(reader)(projectId, places, position, wanted)
    const all = { tags: new Set<string>(), aliases: new Set<string>() }
    for (const [objectId, object] of model) {
      const alive = object.versions.filter((version) => version.alive).map((one) => shown(object, one))
      const ofObject = versions.filter(({ object_id }) => object_id === objectId)
      assert.deepEqual(
        ofObject.map(told).sort((a, b) => a.version_index - b.version_index),
        alive,
      )
      for (const { tags } of alive) for (const tag of tags) all.tags.add(tag)
      for (const alias of object.aliases.keys()) all.aliases.add(alias)
      await checkNames(projectId, position, objectId, object)
    }
    assert.equal(
      versions.length,
      [...model.values()].flatMap((one) => one.versions).filter((v) => v.alive).length,
    )
    assert.deepEqual(await tagsOf(reader)(projectId, position), [...all.tags].sort())
    assert.deepEqual(await aliasesOf(reader)(projectId, position), [...all.aliases].sort())
  }

  const checkNames = async (
    projectId: string,
    position: bigint,
    objectId: string,
    object: NonNullable<ReturnType<Model['get']>>,
  ) => {
    const { reader } = clickHouse
    const asked = NAMES.map((name) => ({ objectId, digest: text(name) }))
    const values = await objectValues(reader)(projectId, asked, position)
    for (const [at, name] of NAMES.entries()) {
      const version = versionNamed(object, name)
      const common = { projectId, objectId, version: text(name), position, withVal: true }
      const read = await readVersion(reader)({ ...common, withLabels: true })
      const quick = await readVersion(reader)({ ...common, withLabels: false, events: 1n })
      if (version?.alive === true) {
        assert.deepEqual(told(read!), shown(object, version))
        assert.deepEqual({ ...quick, tags: read!.tags, aliases: read!.aliases }, read)
        assert.equal(values[at], object.aliases.has(String(name)) ? undefined : read!.val)
      } else {
        assert.equal(values[at], undefined)
        assert.equal(read?.deleted_at, version === undefined ? undefined : TIME)
        assert.equal(quick?.deleted_at, read?.deleted_at)
      }
    }
  }

  it('answer as a plain model does at any position, also when any tail of the log comes again', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryDeeds, fc.array(fc.nat(999), { maxLength: 4 }), async (deeds, places) => {
        const project = `${randomUUID()}/project`
        const { events, moments } = logOf(project, deeds)
        const cuts = places.map((place) => place % (events.length + 1)).sort((a, b) => a - b)
        for (const [i, cut] of [...cuts, events.length].entries())
          await insert(events.slice(cuts[i - 1] ?? 0, cut))
        const asked = [
          moments.at(-1)!,
          ...places.slice(0, 2).map((place) => moments[place % moments.length]!),
        ]
        for (const { position, model } of asked) await check(project, position, model)

        await insert(events.slice(cuts[0] ?? 0))
        for (const { position, model } of asked) await check(project, position, model)
      }),
      { numRuns: 6, endOnFailure: true },
    )
  })
})
