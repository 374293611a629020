import assert from 'node:assert/strict'
import { catalogue } from '../../../src/domain/catalogue.js'
import { CHANGES, EVENT_TYPES, objectIn, wordsOf } from '../../../web/history/event-types.js'
import { isPageAsOf } from '../../../web/kit/as-of-pages.js'

describe('the event types of the history', () => {
  const typesOf = new Map(catalogue.map(({ name, events }) => [name, Object.keys(events)]))
  const ofProjects = catalogue.filter(({ stream }) => stream.includes('<entity>/<project>'))
  const listed = new Set(EVENT_TYPES.flatMap(([, types]) => types.split(' ')))

  it('are all that the streams of projects have', () => {
    for (const { events } of ofProjects)
      for (const type of Object.keys(events)) assert.ok(listed.has(type), type)
    for (const [thing, types] of EVENT_TYPES)
      for (const type of types.split(' ')) assert.ok(typesOf.get(thing)?.includes(type), `${thing}: ${type}`)
  })

  it('leave out frequent events of calls and runs by default', () => {
    for (const type of ['CallDeleted', 'ObjectPublished', 'RunStarted']) assert.ok(CHANGES.includes(type))
    for (const type of ['CallStarted', 'CallEnded', 'MetricsLogged', 'DeliveryScheduled'])
      assert.ok(!CHANGES.includes(type))
    assert.equal(wordsOf('ConflictingCallEndReported'), 'conflicting call end reported')
  })
})

describe('the object of a stream', () => {
  it('is what the name has after its project or team', () => {
    for (const [stream, object] of [
      ['call-acme/support/0192', '0192'],
      ['object-acme/support/prompt', 'prompt'],
      ['run-acme/support/a-b', 'a-b'],
      ['webhook-0192', '0192'],
      ['delivery-dlv_1-2', 'dlv_1-2'],
      ['secret-acme/TOKEN', 'TOKEN'],
      ['registered-acme/models/good', 'models/good'],
      ['project-acme/support', ''],
    ])
      assert.equal(objectIn(stream!), object, stream)
  })
})

describe('pages as of an earlier state', () => {
  it('are those of calls and what is made of them', () => {
    for (const path of [
      '/a/b',
      '/a/b/traces',
      '/a/b/traces/x',
      '/a/b/usage',
      '/a/b/threads/t',
      '/a/b/calls/c',
    ])
      assert.ok(isPageAsOf(path), path)
    for (const path of [
      '/',
      '/-/account',
      '/a/-/webhooks',
      '/a/-/traces',
      '/a/b/history',
      '/a/b/training',
      '/a',
    ])
      assert.ok(!isPageAsOf(path), path)
  })
})
