import assert from 'node:assert/strict'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import type { ObjectCommand } from '../../../../src/domain/objects/commands.js'
import { objectDecider } from '../../../../src/domain/objects/decider.js'
import type { ObjectEvent } from '../../../../src/domain/objects/events.js'
import { weaveDigest } from '../../../../src/domain/objects/weave-digest.js'

const OF_OBJECT = { project_id: 'team/project', object_id: 'thing', wb_user_id: 'ada' }
const at = (second: number) => `2026-01-01T00:00:0${second}.000000Z` as Instant

/** The digest of a content that is known by a number here. */
const digestOf = (content: number): string => weaveDigest(String(content).padStart(64, '0'))

const publish = (content: number, second = 0): ObjectCommand => ({
  type: 'PublishObject',
  content: {
    ...OF_OBJECT,
    digest: digestOf(content),
    kind: 'object',
    created_at: at(second),
    base_object_class: null,
    leaf_object_class: null,
    val: content,
    spilled: {},
  },
})
const remove = (versions: readonly string[] | null): ObjectCommand => ({
  type: 'DeleteVersions',
  ...OF_OBJECT,
  versions,
  deleted_at: at(9),
})
const tag = (version: string, ...tags: string[]): ObjectCommand => ({
  type: 'AddTags',
  ...OF_OBJECT,
  version,
  tags,
})
const untag = (version: string, ...tags: string[]): ObjectCommand => ({
  type: 'RemoveTags',
  ...OF_OBJECT,
  version,
  tags,
})
const alias = (version: string, ...aliases: string[]): ObjectCommand => ({
  type: 'SetAliases',
  ...OF_OBJECT,
  version,
  aliases,
})
const unalias = (...aliases: string[]): ObjectCommand => ({ type: 'RemoveAliases', ...OF_OBJECT, aliases })

const after = (...commands: readonly ObjectCommand[]) =>
  commands.reduce((state, command) => {
    const { events, refused } = objectDecider.decide(state, command)
    assert.equal(refused, undefined)
    return events.reduce(objectDecider.evolve, state)
  }, objectDecider.initialState())

const told = ({ type, data }: ObjectEvent): string =>
  [
    type,
    ...('version_index' in data ? [`v${data.version_index}`] : []),
    ...('tags' in data ? data.tags : []),
    ...('aliases' in data ? data.aliases : []),
  ].join(' ')

/** What a command writes after others: an event a line. */
const written = (given: readonly ObjectCommand[], when: ObjectCommand): readonly string[] => {
  const { events, refused } = objectDecider.decide(after(...given), when)
  assert.equal(refused, undefined)
  return events.map(told)
}

const refused = (given: readonly ObjectCommand[], when: ObjectCommand): string => {
  const decision = objectDecider.decide(after(...given), when)
  assert.deepEqual(decision.events, [])
  assert.equal(decision.refused?.kind, 'not-found')
  return decision.refused.reason
}

describe('an object decides that', () => {
  it('new content is the next version', () => {
    assert.deepEqual(written([], publish(0)), ['ObjectPublished v0'])
    assert.deepEqual(written([publish(0)], publish(1)), ['ObjectPublished v1'])
  })

  it('content that was deleted comes back as the version it was, with the time of its coming back', () => {
    const given = [publish(0), publish(1), remove(['v0'])]
    assert.deepEqual(written(given, publish(0)), ['ObjectPublished v0'])
    const [event] = objectDecider.decide(after(...given), publish(0, 5)).events
    assert.ok(event?.type === 'ObjectPublished' && event.data.created_at === at(5))
    assert.deepEqual(written([...given, publish(0)], publish(2)), ['ObjectPublished v2'])
  })

  it('versions go by digest, number, as the latest or by alias, each once', () => {
    const given = [publish(0), publish(1), publish(2), alias('v0', 'prod')]
    assert.deepEqual(written(given, remove([digestOf(1)])), ['ObjectDeleted v1'])
    assert.deepEqual(written(given, remove(['v02', 'latest', digestOf(2)])), ['ObjectDeleted v2'])
    assert.deepEqual(written([...given, remove(['v2'])], remove(['latest'])), ['ObjectDeleted v1'])
    assert.deepEqual(written(given, remove(null)), [
      'ObjectAliasesRemoved prod',
      'ObjectDeleted v0',
      'ObjectDeleted v1',
      'ObjectDeleted v2',
    ])
  })

  it('none goes where one that is named is not there', () => {
    const given = [publish(0), publish(1), remove(['v0'])]
    assert.match(refused(given, remove(['latest', 'v0', 'v7', digestOf(9), 'prod'])), /digests\[1, 2, 3, 4\]/)
    assert.match(refused([], remove(null)), /not found/)
    assert.match(refused([publish(0), remove(null)], remove(null)), /not found/)
    assert.match(refused([publish(0), remove(null)], remove(['latest'])), /version not found/)
  })

  it('a version takes its tags and aliases with it', () => {
    const given = [publish(0), publish(1), tag('v0', 'a', 'b'), alias('v0', 'x'), alias('v1', 'y')]
    assert.deepEqual(written(given, remove(['v0'])), [
      'ObjectTagsRemoved v0 a b',
      'ObjectAliasesRemoved x',
      'ObjectDeleted v0',
    ])
    assert.deepEqual(written([...given, remove(['v0']), publish(0)], tag('v0', 'a')), [
      'ObjectTagsAdded v0 a',
    ])
  })

  it('an alias points at one version', () => {
    const given = [publish(0), publish(1), alias('v0', 'x', 'y')]
    assert.deepEqual(written(given, alias('latest', 'x', 'z', 'x')), ['ObjectAliasesSet v1 x z'])
    assert.deepEqual(written([...given, alias('v1', 'x')], remove(['v0'])), [
      'ObjectAliasesRemoved y',
      'ObjectDeleted v0',
    ])
  })

  it('labels change only where there is a change', () => {
    const given = [publish(0), tag('v0', 'a'), alias('v0', 'x')]
    assert.deepEqual(written(given, tag('v0', 'a', 'b', 'b')), ['ObjectTagsAdded v0 b'])
    assert.deepEqual(written(given, untag('x', 'a', 'never')), ['ObjectTagsRemoved v0 a'])
    assert.deepEqual(written(given, untag('v0', 'never')), [])
    assert.deepEqual(written(given, unalias('x', 'never')), ['ObjectAliasesRemoved x'])
    assert.deepEqual(written([], unalias('never')), [])
    assert.deepEqual(written(given, tag('v0')), [])
    assert.deepEqual(written(given, alias('v0')), [])
  })

  it('there are no labels on what is not there', () => {
    for (const command of [tag('v0', 'a'), untag('v0', 'a'), alias('latest', 'a'), tag('constructor', 'a')]) {
      assert.match(refused([], command), /not found/)
      assert.match(refused([publish(0), remove(null)], command), /not found/)
    }
  })

  for (const command of [
    publish(1),
    tag('v0', 'b'),
    untag('v0', 'a'),
    alias('v0', 'y'),
    unalias('x'),
    remove(['v0']),
    remove(null),
  ])
    it(`${command.type} a second time writes nothing`, () => {
      const state = after(publish(0), tag('v0', 'a'), alias('v0', 'x'), command)
      assert.deepEqual(objectDecider.decide(state, command).events, [])
    })
})
