import assert from 'node:assert/strict'
import type { Instant } from '../../../../src/kernel/codec/instant.js'
import {
  type Exception,
  type ProjectCommand,
  projectDecider,
} from '../../../../src/domain/projects/project.js'

const project_id = 'team/project'
const created_at = '2026-01-01T00:00:00.000000Z' as Instant

const create: ProjectCommand = { type: 'CreateProject', project_id, created_at }
const choose: ProjectCommand = { type: 'ChooseUsageReporting', project_id, usage_reporting: 'own' }
const record: ProjectCommand = { type: 'ChooseRecording', project_id, record: 'metadata' }
const nameUsers: ProjectCommand = {
  type: 'ChooseEndUserAttribute',
  project_id,
  end_user_attribute: 'customer.id',
}
const retain = (content_days: number, except: readonly Exception[] | null = null): ProjectCommand => ({
  type: 'ChooseRetention',
  project_id,
  content_days,
  except,
  figures_days: null,
})
const describeIt = (description: string | null, repo: string | null = null): ProjectCommand => ({
  type: 'DescribeProject',
  project_id,
  description,
  repo,
})

/** What the last of some commands makes of a project, after the others. */
const given = (...commands: readonly ProjectCommand[]) => {
  let state = projectDecider.initialState()
  let last = projectDecider.decide(state, commands[0]!)
  for (const command of commands) {
    last = projectDecider.decide(state, command)
    state = last.events.reduce(projectDecider.evolve, state)
  }
  return { events: last.events, state }
}

describe('a project', () => {
  it('is created with the time at which it was asked for', () =>
    assert.deepEqual(given(create).events, [{ type: 'ProjectCreated', data: { project_id, created_at } }]))

  it('has a description and a repository, each of which stays until another comes', () => {
    const { events, state } = given(describeIt('first', 'there'), describeIt('second'))
    assert.deepEqual(events, [
      { type: 'ProjectDescribed', data: { project_id, description: 'second', repo: 'there' } },
    ])
    assert.deepEqual([state.description, state.repo], ['second', 'there'])
  })

  for (const command of [create, choose, record, nameUsers, describeIt('text', 'there'), describeIt(null)])
    it(`writes nothing when asked again: ${JSON.stringify(command).slice(0, 60)}`, () =>
      assert.deepEqual(given(command, command).events, []))

  it('keeps the exceptions of its retention where none are given, in one order', () => {
    const chosen = retain(30, ['in_datasets', 'with_feedback'])
    const { events } = given(chosen, retain(20))
    const except = ['with_feedback', 'in_datasets']
    assert.deepEqual(events, [
      { type: 'RetentionChosen', data: { project_id, content_days: 20, except, figures_days: 0 } },
    ])
    assert.deepEqual(given(chosen, retain(30, ['with_feedback', 'in_datasets', 'in_datasets'])).events, [])
  })

  it('keeps the time of its creation', () => {
    const later = { ...create, created_at: '2027-01-01T00:00:00.000000Z' } as ProjectCommand
    assert.equal(given(create, choose, later).state.createdAt, created_at)
  })
})
