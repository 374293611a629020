import assert from 'node:assert/strict'
import { inTeam, projectOfResource } from '../../../../src/application/otel/span-project.js'

const projectOf = (attributes: Record<string, string>): string =>
  projectOfResource({ attributes, droppedAttributes: 0, schemaUrl: '' }, 'home')

describe('the project of a resource', () => {
  it('is the one that it names, the first name that is there', () => {
    assert.equal(projectOf({ 'wandb.entity': 'team', 'wandb.project': 'p', 'service.name': 's' }), 'team/p')
    assert.equal(projectOf({ 'wandb.project': 'p' }), 'home/p')
    assert.equal(projectOf({ 'openinference.project.name': 'o', 'service.name': 's' }), 'home/o')
    assert.equal(projectOf({ 'service.name': 'my service' }), 'home/my service')
  })

  it('is default for a program without a name', () => {
    assert.equal(projectOf({}), 'home/default')
    assert.equal(projectOf({ 'service.name': 'unknown_service:node' }), 'home/default')
  })

  it('has - in place of characters that a name may not have', () => {
    assert.equal(projectOf({ 'service.name': 'a/b:c' }), 'home/a-b-c')
    assert.equal(inTeam('team/a/b', 'home'), 'team/a-b')
    assert.equal(inTeam('no team/p', 'home'), 'home/p')
  })

  it('is none that an address cannot have', () => {
    for (const name of ['-', '.', '..']) assert.equal(inTeam(name, 'home'), 'home/default')
    assert.equal(inTeam('../..', 'home'), 'home/default')
  })
})
