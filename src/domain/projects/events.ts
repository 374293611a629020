import type * as t from 'io-ts'
import { nullableText } from '../../kernel/codec/containers.js'
import { instant } from '../../kernel/codec/instant.js'
import { oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import type { EventOf } from '../../kernel/decider.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { projectId } from '../../kernel/ids.js'

/**
 * How to read the usage reported by a project's calls. `auto` recognises SDKs that add children's usage to the
 * parent, `own` takes each figure as the call's own, `rolled_up` takes each figure as including descendants.
 */
export const usageReporting = oneOf('auto', 'own', 'rolled_up')
export type UsageReporting = t.TypeOf<typeof usageReporting>

/** What is recorded of completions. `metadata` records requester, model, time, usage and outcome, but no content. */
export const recordLevel = oneOf('all', 'metadata')
export type RecordLevel = t.TypeOf<typeof recordLevel>

export const MAX_PROJECT_TEXT = 10_000

/** User-written text about a project. */
export const projectText = textUpToCharacters(MAX_PROJECT_TEXT)

export const usageReportingChosen = open('UsageReportingChosen', {
  says: 'How the calls of a project report usage was set. Reads use it from this position on.',
  required: { project_id: projectId, usage_reporting: usageReporting },
})

const projectCreated = open('ProjectCreated', {
  says: 'A client registered a project by name. Projects that are only written to have no such event.',
  required: { project_id: projectId, created_at: instant },
})

const projectDescribed = open('ProjectDescribed', {
  says: "A project's description and repository were set.",
  required: { project_id: projectId },
  optional: { description: nullableText(projectText), repo: nullableText(projectText) },
})

const recordingChosen = open('RecordingChosen', {
  says: "How much of a project's completions is recorded was set. It applies to completions that start later.",
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
