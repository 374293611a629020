import assert from 'node:assert/strict'
import type { TestService } from '../../support/service.js'
import { sharedService, someProject } from '../shared-service.js'
import { accepted, eventsOf, reasonOf, told, writesNothing } from '../calls/given.js'
import { objectsOf } from './given.js'

describe('tags and aliases', () => {
  let service: TestService
  let given: ReturnType<typeof objectsOf>
  before(async () => {
    service = await sharedService()
    given = objectsOf(service)
  })

  const labelsOf = async (project: string, version: string) => {
    const { tags, aliases } = await given.read(project, 'thing', version, { include_tags_and_aliases: true })
    return { tags, aliases }
  }
  const untag = (project_id: string, version: string, tags: readonly string[]) =>
    service.post(`/objs/thing/versions/${version}/tags/remove`, { project_id, tags })
  const unalias = (project_id: string, aliases: readonly string[]) =>
    service.post('/objs/thing/aliases/remove', { project_id, aliases })

  it('come and go', async () => {
    const project = someProject()
    const digest = await given.publish(project, 'thing', 1)
    assert.deepEqual(accepted(await given.tag(project, 'thing', digest, ['b', 'a', 'b'])), {})
    assert.deepEqual(accepted(await given.alias(project, 'thing', digest, ['x', 'y z'])), {})
    assert.deepEqual(await labelsOf(project, 'v0'), { tags: ['a', 'b'], aliases: ['x', 'y z', 'latest'] })
    assert.deepEqual(accepted(await untag(project, 'y%20z', ['a', 'never'])), {})
    assert.deepEqual(accepted(await unalias(project, ['y z', 'never'])), {})
    assert.deepEqual(await labelsOf(project, 'x'), { tags: ['b'], aliases: ['x', 'latest'] })
  })

  it('move, vanish with their version, and do not come back with it', async () => {
    const project = someProject()
    const first = await given.publish(project, 'thing', 1)
    await given.publish(project, 'thing', 2)
    accepted(await given.alias(project, 'thing', 'v0', ['stable', 'old']))
    accepted(await given.alias(project, 'thing', 'latest', ['stable']))
    assert.deepEqual((await labelsOf(project, 'v0')).aliases, ['old'])
    assert.deepEqual((await labelsOf(project, 'v1')).aliases, ['stable', 'latest'])
    accepted(await given.tag(project, 'thing', first, ['t']))
    accepted(await given.remove(project, 'thing', ['v0']))
    reasonOf(await given.ask(project, 'thing', 'old'), 404)
    await given.publish(project, 'thing', 1)
    assert.deepEqual(await labelsOf(project, 'v0'), { tags: [], aliases: [] })
  })

  it('that are so already write nothing', async () => {
    const project = someProject()
    await given.publish(project, 'thing', 1)
    accepted(await given.tag(project, 'thing', 'v0', ['t']))
    accepted(await given.alias(project, 'thing', 'v0', ['x']))
    await writesNothing(service, async () => {
      accepted(await given.tag(project, 'thing', 'latest', ['t']))
      accepted(await given.alias(project, 'thing', 'x', ['x']))
      accepted(await given.tag(project, 'thing', 'x', []))
      accepted(await unalias(project, ['nothing']))
      accepted(await untag(project, 'x', ['nothing']))
    })
  })

  it('are set once when many set them at a time', async () => {
    const project = someProject()
    await given.publish(project, 'thing', 1)
    await Promise.all(
      Array.from({ length: 6 }, async () => accepted(await given.tag(project, 'thing', 'v0', ['t']))),
    )
    const events = await eventsOf(service, `object-${project}/thing`)
    assert.equal(events.filter(({ type }) => type === 'ObjectTagsAdded').length, 1)
    assert.equal(events.at(-1)?.data['wb_user_id'], 'admin')
  })

  it('need a version that is there', async () => {
    const project = someProject()
    for (const time of ['before', 'after'] as const) {
      if (time === 'after') {
        await given.publish(project, 'thing', 1)
        accepted(await given.remove(project, 'thing'))
      }
      await writesNothing(service, async () => {
        reasonOf(await given.tag(project, 'thing', 'v0', ['t']), 404)
        reasonOf(await given.alias(project, 'thing', 'latest', ['x']), 404)
        reasonOf(await untag(project, 'v0', ['t']), 404)
        assert.deepEqual(accepted(await unalias(project, ['x'])), {})
      })
    }
  })

  it('are refused by their place where they cannot be', async () => {
    const project = someProject()
    await given.publish(project, 'thing', 1)
    for (const tag of ['', ' ', 'a  b', 'a.b', 'x'.repeat(257), '\u0000', '\ud800'])
      assert.deepEqual(told(await given.tag(project, 'thing', 'v0', ['ok', tag])), [
        'string_pattern_mismatch tags.1',
      ])
    for (const alias of [
      'latest',
      'v0',
      'v99',
      '',
      ' ',
      'a/b',
      'a:b',
      'x'.repeat(129),
      'd'.repeat(43),
      '\u0007',
    ])
      assert.deepEqual(told(await given.alias(project, 'thing', 'v0', [alias])), [
        'string_pattern_mismatch aliases.0',
      ])
    assert.deepEqual(told(await given.tag(project, 'thing', 'v0', [7])), ['string_type tags.0'])
    const inPath = await given.tag(project, 'a%3Ab', 'v0', ['t'])
    assert.equal(inPath.status, 422)
    assert.match(inPath.text, /"loc":\["path","object_id"\]/)
  })
})
