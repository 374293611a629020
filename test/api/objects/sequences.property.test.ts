import assert from 'node:assert/strict'
import fc from 'fast-check'
import { COUNTS } from '../../counts.js'
import type { TestService } from '../../support/service.js'
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
import { sharedService, someProject } from '../shared-service.js'
import { accepted, textIn, writesNothing } from '../calls/given.js'

interface Read {
  readonly object_id: string
  readonly version_index: number
  readonly is_latest: number
  readonly val: { readonly content: number }
  readonly tags: readonly string[]
  readonly aliases: readonly string[]
}

describe('any sequence of deeds over objects', () => {
  let service: TestService
  before(async () => (service = await sharedService()))

  const digestsOf = async (): Promise<readonly string[]> => {
    const project_id = someProject()
    const digests: string[] = []
    for (let content = 0; content < 5; content += 1) {
      const obj = { project_id, object_id: 'any', val: { content } }
      digests.push(textIn(accepted(await service.post('/obj/create', { obj })), 'digest'))
    }
    return digests
  }

  const told = ({ version_index, val, is_latest, tags, aliases }: Read) => ({
    version_index,
    content: val.content,
    is_latest,
    tags,
    aliases: [...aliases].sort(),
  })

  it('leaves what a plain model says, now and as of an earlier position', async () => {
    const digests = await digestsOf()
    const text = (name: Name) => (typeof name === 'number' ? digests[name]! : name)

    const send = (project_id: string, deed: Deed) => {
      const path = `/objs/${encodeURIComponent(deed.object)}`
      switch (deed.kind) {
        case 'publish': {
          const obj = { project_id, object_id: deed.object, val: { content: deed.content } }
          return service.post('/obj/create', { obj })
        }
        case 'delete': {
          const digests = deed.versions?.map(text) ?? null
          return service.in(project_id).objects.delete({ object_id: deed.object, digests })
        }
        case 'tag':
        case 'untag': {
          const version = encodeURIComponent(text(deed.version))
          const [method, end] = deed.kind === 'tag' ? ['PUT', ''] : ['POST', '/remove']
          const tags = deed.labels
          return service.send(method, `${path}/versions/${version}/tags${end}`, { project_id, tags })
        }
        case 'alias': {
          const body = { project_id, digest: text(deed.version), aliases: deed.labels }
          return service.send('PUT', `${path}/aliases`, body)
        }
        case 'unalias':
          return service.post(`${path}/aliases/remove`, { project_id, aliases: deed.labels })
      }
    }

    const check = async (project_id: string, model: Model, headers: Record<string, string> = {}) => {
      const { objs } = (await service
        .in(project_id)
        .with({ headers })
        .objects.query({
          include_tags_and_aliases: true,
          sort_by: [{ field: 'object_id', direction: 'asc' }],
        })
        .json()) as unknown as { objs: readonly Read[] }
      for (const [object_id, object] of model) {
        const alive = object.versions.filter((version) => version.alive).map((one) => shown(object, one))
        const read = objs.filter((one) => one.object_id === object_id).map(told)
        assert.deepEqual(
          [...read].sort((a, b) => a.version_index - b.version_index),
          alive,
        )
        for (const name of NAMES) {
          const body = { project_id, object_id, digest: text(name), include_tags_and_aliases: true }
          const answer = await service.post('/obj/read', body, { headers })
          const version = versionNamed(object, name)
          if (version === undefined) {
            assert.equal(answer.status, 404)
            assert.deepEqual(Object.keys(answer.json()), ['reason'])
          } else if (!version.alive) {
            assert.equal(answer.status, 404)
            assert.deepEqual(Object.keys(answer.json()), ['reason', 'deleted_at'])
          } else assert.deepEqual(told(accepted(answer)['obj'] as unknown as Read), shown(object, version))
        }
      }
    }

    await fc.assert(
      fc.asyncProperty(arbitraryDeeds, fc.nat(), async (deeds, earlier) => {
        const project = someProject()
        const model: Model = new Map()
        const moments: { readonly position: string; readonly model: Model }[] = []
        for (const deed of deeds) {
          const done = doDeed(model, deed)
          const answer = await send(project, deed)
          assert.equal(answer.status, done ? 200 : 404, `${JSON.stringify(deed)} ${answer.text}`)
          // A repeated write has the position of what it repeats.
          const position = answer.headers.get('tallytree-position')
          if (done && BigInt(position!) > BigInt(moments.at(-1)?.position ?? 0))
            moments.push({ position: position!, model: structuredClone(model) })
          const again = async () => assert.equal((await send(project, deed)).status < 500, true)
          const repeats = !done || (deed.kind !== 'delete' && deed.kind !== 'untag')
          if (repeats) await writesNothing(service, again)
        }
        await check(project, model)
        const moment = moments[earlier % moments.length]
        if (moment !== undefined) await check(project, moment.model, { 'tallytree-as-of': moment.position })
      }),
      { numRuns: COUNTS.objectSequences, endOnFailure: true },
    )
  })
})
