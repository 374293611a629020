import type * as t from 'io-ts'
import { nullableText } from '../codec/containers.js'
import { instant } from '../codec/instant.js'
import { oneOf } from '../codec/leaves.js'
import { open } from '../codec/struct.js'
import type { EventOf } from '../decider.js'
import { textUpToCharacters } from '../codec/text.js'
import { projectId } from '../ids.js'

/**
 * How a project's calls report usage: `auto` recognises sums that SDKs put into parents, `own` takes every figure as
 * the call's own, `rolled_up` takes every parent's figures as including its children's.
 */
export const usageReporting = oneOf('auto', 'own', 'rolled_up')
export type UsageReporting = t.TypeOf<typeof usageReporting>

/** What of completions is recorded: `metadata` is who asked which model when, what it used and how it went, and no content. */
export const recordLevel = oneOf('all', 'metadata')
export type RecordLevel = t.TypeOf<typeof recordLevel>

export const MAX_PROJECT_TEXT = 10_000

/** What people write about a project. */
export const projectText = textUpToCharacters(MAX_PROJECT_TEXT)

export const usageReportingChosen = open('UsageReportingChosen', {
  says: 'A project was told how its calls report usage; answers follow it from here on.',
  required: { project_id: projectId, usage_reporting: usageReporting },
})

const projectCreated = open('ProjectCreated', {
  says: 'A client asked for a project by name. Projects that are merely written to do without.',
  required: { project_id: projectId, created_at: instant },
})

const projectDescribed = open('ProjectDescribed', {
  says: 'A project has this description and this repository, whatever they were before.',
  required: { project_id: projectId },
  optional: { description: nullableText(projectText), repo: nullableText(projectText) },
})

const recordingChosen = open('RecordingChosen', {
  says: 'A project was told what of its completions is recorded; those that begin later follow it.',
  required: { project_id: projectId, record: recordLevel },
})

export const projectEvents = {
  UsageReportingChosen: usageReportingChosen,
  ProjectCreated: projectCreated,
  ProjectDescribed: projectDescribed,
  RecordingChosen: recordingChosen,
}

export type ProjectEvent = EventOf<typeof projectEvents>

export type ProjectChosen = Extract<ProjectEvent, { readonly type: 'UsageReportingChosen' }>

export const projectStream = (projectId: string): string => `project-${projectId}`
