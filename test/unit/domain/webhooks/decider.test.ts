import assert from 'node:assert/strict'
import {
  type WebhookCommand,
  webhookDecider,
  webhookContent,
  type WebhookContent,
} from '../../../../src/domain/webhooks/webhook.js'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import { deciding } from '../../../support/decided.js'

const contentOf = (more: Partial<WebhookContent> = {}): WebhookContent => {
  const decoded = webhookContent.decode({ name: 'hook', url: 'https://hooks.example/', ...more })
  return decoded._tag === 'Right' ? decoded.right : assert.fail()
}
const own = { id: 'w', team: 't' }
const create = (content = contentOf(), enabled = true): WebhookCommand => ({
  type: 'CreateWebhook',
  ...own,
  content,
  enabled,
})
const change = (content: WebhookContent, edition = 0, enabled: boolean | null = null): WebhookCommand => ({
  type: 'ChangeWebhook',
  ...own,
  edition,
  content,
  enabled,
})
const disable: WebhookCommand = { type: 'DisableWebhook', ...own, reason: 'gone', depth: 1 }
const remove: WebhookCommand = { type: 'DeleteWebhook', ...own }
const test: WebhookCommand = { type: 'RecordTest', ...own, status: 204, duration_ms: 12 }

const given = deciding(webhookDecider)

describe('a webhook', () => {
  it('is made once; the same again writes nothing, another under its id is a conflict', () => {
    assert.deepEqual(given(create()).events, [
      { type: 'WebhookCreated', data: { ...own, ...contentOf(), enabled: true } },
    ])
    assert.deepEqual(given(create(), create()).types, [])
    const changed = contentOf({ name: 'other' })
    assert.deepEqual(given(create(), change(changed), create()).types, [])
    assert.equal(given(create(), create(changed)).refused?.kind, 'conflict')
    assert.equal(given(create(), create(contentOf(), false)).refused?.kind, 'conflict')
  })

  it('is changed as a whole, by somebody who has seen it as it is', () => {
    const changed = contentOf({ name: 'other' })
    assert.deepEqual(given(create(), change(changed)).types, ['WebhookChanged'])
    assert.deepEqual(given(create(), change(changed), change(changed)).types, [])
    const late = given(create(), change(changed), change(contentOf({ name: 'third' }), 0, false))
    assert.deepEqual([late.types, late.refused?.kind, late.state?.content.name], [[], 'conflict', 'other'])
  })

  it('is enabled and disabled, and says why', () => {
    const off = given(create(), change(contentOf(), 0, false))
    assert.deepEqual(
      [off.types, off.state?.enabled, off.state?.disabled],
      [['WebhookDisabled'], false, 'by_hand'],
    )
    assert.deepEqual(given(create(), change(contentOf(), 0, false), change(contentOf(), 0, false)).types, [])
    const on = given(create(), disable, change(contentOf({ timeout_s: 3 }), 0, true))
    assert.deepEqual([on.types, on.state?.enabled], [['WebhookChanged', 'WebhookEnabled'], true])
    const asked = given(create(), disable)
    assert.deepEqual(asked.events, [{ type: 'WebhookDisabled', data: { ...own, reason: 'gone', depth: 1 } }])
    assert.equal(asked.state?.disabled, 'gone')
    assert.deepEqual(given(create(), disable, disable).types, [])
  })

  it('is gone for good once it is deleted', () => {
    assert.deepEqual(given(create(), remove).types, ['WebhookDeleted'])
    assert.deepEqual(given(create(), remove, remove), { ...given(create(), remove), types: [], events: [] })
    for (const command of [change(contentOf(), 0, true), disable, test])
      assert.equal(given(create(), remove, command).refused?.kind, 'not-found')
    assert.equal(given(create(), remove, create()).refused?.kind, 'conflict')
    assert.equal(given(remove).refused?.kind, 'not-found')
  })

  it('keeps of a test what was answered, and nothing else', () => {
    const { events, state } = given(create(), test)
    assert.deepEqual(events, [{ type: 'TestSent', data: { ...own, status: 204, duration_ms: 12 } }])
    assert.deepEqual(state, given(create()).state)
  })

  it('reports failing once for each number of hours, and not while it is disabled', () => {
    const since = '2026-01-01T00:00:00.000000Z' as Instant
    const report = (hours: number, failingSince = since): WebhookCommand => ({
      type: 'ReportFailing',
      ...own,
      failingSince,
      hours,
      depth: 1,
    })
    const { initialState, evolve, decide } = webhookDecider
    let state = decide(initialState(), create()).events.reduce(evolve, initialState())
    const run = (command: WebhookCommand) => {
      const { events } = decide(state, command)
      state = events.reduce(evolve, state)
      return events.length
    }
    assert.deepEqual([run(report(1)), run(report(1)), run(report(24)), run(report(1))], [1, 0, 1, 0])
    assert.equal(run(report(1, '2026-02-01T00:00:00.000000Z' as Instant)), 1)
    run(disable)
    assert.equal(run(report(24, '2026-03-01T00:00:00.000000Z' as Instant)), 0)
  })
})
