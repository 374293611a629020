import assert from 'node:assert/strict'
import type { AutomationCommand } from '../../../../../src/domain/webhooks/automations/commands.js'
import { automationDecider } from '../../../../../src/domain/webhooks/automations/decider.js'
import type { AutomationContent } from '../../../../../src/domain/webhooks/automations/events.js'
import { contentOf } from './matching/given.js'
import { deciding } from '../../../../support/decided.js'

const own = { id: 'a', team: 'team' }
const content = contentOf({ type: 'RUN_STATE', states: ['FAILED'] }, { run_filters: { user: 'ada' } })
const create = (of = content, enabled = true): AutomationCommand => ({
  type: 'CreateAutomation',
  ...own,
  content: of,
  enabled,
})
const change = (
  more: Partial<AutomationContent>,
  edition = 0,
  enabled: boolean | null = null,
): AutomationCommand => ({
  type: 'ChangeAutomation',
  ...own,
  edition,
  content: { ...content, ...more },
  enabled,
})
const remove: AutomationCommand = { type: 'DeleteAutomation', ...own }

const given = deciding(automationDecider)

describe('an automation that is managed', () => {
  it('is made once; the same again writes nothing, another under its id is a conflict', () => {
    assert.deepEqual(given(create()).events, [
      { type: 'AutomationCreated', data: { ...own, ...content, enabled: true } },
    ])
    assert.deepEqual(given(create(), create()).types, [])
    assert.deepEqual(given(create(), change({ name: 'b' }), create()).types, [])
    assert.equal(given(create(), create({ ...content, name: 'b' })).refused?.kind, 'conflict')
  })

  it('begins its cooldowns anew with another event, scope or filter, and with nothing else', () => {
    const resets = (more: Partial<AutomationContent>): unknown => {
      const { events } = given(create(), change(more))
      const [event] = events
      return event?.type === 'AutomationChanged' ? event.data.resets : undefined
    }
    for (const more of [
      { name: 'b' },
      { description: 'd' },
      { webhook: 'v' },
      { payload: '[]' },
      { secret: 'S' },
    ])
      assert.equal(resets(more), false, JSON.stringify(more))
    for (const more of [
      { event: { ...content.event, states: ['RUNNING' as const] } },
      { scope: { ...content.scope, project: 'q' } },
      { run_filters: null },
    ])
      assert.equal(resets(more), true, JSON.stringify(more))
    assert.equal(resets({}), undefined)
  })

  it('is changed by somebody who has seen it as it is', () => {
    assert.deepEqual(given(create(), change({ name: 'b' }), change({ name: 'b' })).types, [])
    const late = given(create(), change({ name: 'b' }), change({ name: 'c' }, 0, false))
    assert.deepEqual([late.types, late.refused?.kind, late.state?.enabled], [[], 'conflict', true])
    assert.deepEqual(given(create(), change({ name: 'b' }), change({ name: 'c' }, 1)).types, [
      'AutomationChanged',
    ])
  })

  it('is enabled and disabled, once', () => {
    assert.deepEqual(given(create(), change({}, 0, false)).types, ['AutomationDisabled'])
    assert.deepEqual(given(create(), change({}, 0, false), change({}, 0, false)).types, [])
    assert.deepEqual(given(create(content, false), change({}, 0, true)).types, ['AutomationEnabled'])
  })

  it('is gone for good once it is deleted', () => {
    assert.deepEqual(given(create(), remove).types, ['AutomationDeleted'])
    assert.deepEqual(given(create(), remove, remove).types, [])
    assert.equal(given(create(), remove, change({ name: 'b' })).refused?.kind, 'not-found')
    assert.equal(given(create(), remove, create()).refused?.kind, 'conflict')
  })
})
