import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { ClickHouse } from '../../../../src/kernel/ports/clickhouse.js'
import { migrate } from '../../../../src/projections/migrate.js'
import { objectsProjection } from '../../../../src/projections/objects/project.js'
import {
  aliasesOf,
  objectValues,
  tagsOf,
  versionPlaces,
  versionsAt,
  type StoredVersion,
} from '../../../../src/projections/objects/queries.js'
import type { ProjectedEvent } from '../../../../src/projections/projection.js'
import { COUNTS } from '../../../counts.js'
import { openTestClickHouse } from '../../../support/engine.js'
import { arbitraryDeeds, NAMES, shown, versionNamed, type Model } from '../../../support/object-model.js'
import { logOf, text } from './object-log.js'

const ROUNDS = COUNTS.objectReplays

describe('the rows of objects', () => {
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
      const isAlive = version?.alive === true && !object.aliases.has(String(name))
      const expected = isAlive ? version.content : undefined
      const value = values[at]
      assert.equal(value && (JSON.parse(value) as { content: number }).content, expected)
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
          ...places.slice(0, COUNTS.objectReplayPositions).map((place) => moments[place % moments.length]!),
        ]
        for (const { position, model } of asked) await check(project, position, model)

        await insert(events.slice(cuts[0] ?? 0))
        for (const { position, model } of asked) await check(project, position, model)
      }),
      { numRuns: ROUNDS, endOnFailure: true },
    )
  })
})
