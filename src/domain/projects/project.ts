import type * as t from 'io-ts'
import { arrayOf, nullableText, withDefault } from '../../kernel/codec/containers.js'
import { instant, type Instant } from '../../kernel/codec/instant.js'
import { integerBetween, oneOf } from '../../kernel/codec/leaves.js'
import { open } from '../../kernel/codec/struct.js'
import { type EventOf, nothing, type Decider } from '../../kernel/decider.js'
import { textUpToCharacters } from '../../kernel/codec/text.js'
import { projectId } from '../../kernel/ids.js'
import { pathIn } from '../query/field-path.js'

/**
 * How to read the usage reported by a project's calls. `auto` recognises SDKs that add children's usage to the
 * parent, `own` takes each figure as the call's own, `rolled_up` takes each figure as including descendants.
 */
export const usageReporting = oneOf('auto', 'own', 'rolled_up')
export type UsageReporting = t.TypeOf<typeof usageReporting>

/** What is recorded of completions. `metadata` records requester, model, time, usage and outcome, but no content. */
export const recordLevel = oneOf('all', 'metadata')
export type RecordLevel = t.TypeOf<typeof recordLevel>

/** For how long an answer of a model is given again to equal requests; 0 for never. */
export const cacheSeconds = integerBetween(0, 30 * 86_400)

/** After how many days the content of calls is erased; 0 for never. */
export const contentDays = integerBetween(0, 36_500)

/** Calls that an erasure may leave as they are. */
export const EXCEPTIONS = ['with_feedback', 'in_datasets', 'in_annotation_queues', 'in_evaluations'] as const
const exception = oneOf(...EXCEPTIONS)
export type Exception = t.TypeOf<typeof exception>
export const exceptions = arrayOf(exception)

const inOrder = (chosen: readonly Exception[]): readonly Exception[] =>
  EXCEPTIONS.filter((one) => chosen.includes(one))

/** The path within the attributes of calls that has the end user; empty for none. */
export const endUserAttribute = pathIn(textUpToCharacters(200), true)

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

const cachingChosen = open('CachingChosen', {
  says:
    'For how long the answers of models are given again to equal requests of a project was set, in seconds; 0 for never. It ' +
    'applies to requests that start later.',
  required: { project_id: projectId, cache_seconds: cacheSeconds },
})

const endUserAttributeChosen = open('EndUserAttributeChosen', {
  says:
    "The path within the attributes of a project's calls that has the end user was set; empty for none. Reads look there " +
    'first from this position on, also in calls that were recorded before.',
  required: { project_id: projectId, end_user_attribute: endUserAttribute },
})

const retentionChosen = open('RetentionChosen', {
  says:
    'After how many days the content of the calls of a project is erased was set; 0 for never. It also applies to calls that ' +
    'are recorded already. Calls named by `except` keep it. After `figures_days` days the figures are erased too.',
  required: { project_id: projectId, content_days: contentDays },
  optional: { except: withDefault(exceptions, []), figures_days: withDefault(contentDays, 0) },
})

export const projectEvents = {
  UsageReportingChosen: usageReportingChosen,
  ProjectCreated: projectCreated,
  ProjectDescribed: projectDescribed,
  RecordingChosen: recordingChosen,
  CachingChosen: cachingChosen,
  EndUserAttributeChosen: endUserAttributeChosen,
  RetentionChosen: retentionChosen,
}

export type RetentionChosen = t.TypeOf<typeof retentionChosen>

/** Events of earlier releases have none. */
export const exceptionsOf = ({ except }: Partial<Pick<RetentionChosen, 'except'>>): readonly Exception[] =>
  except ?? []

export const figuresDaysOf = ({ figures_days }: Partial<Pick<RetentionChosen, 'figures_days'>>): number =>
  figures_days ?? 0

export type ProjectEvent = EventOf<typeof projectEvents>

export const projectStream = (projectId: string): string => `project-${projectId}`

export interface ChooseUsageReporting {
  readonly type: 'ChooseUsageReporting'
  readonly project_id: string
  readonly usage_reporting: UsageReporting
}

export interface ChooseRecording {
  readonly type: 'ChooseRecording'
  readonly project_id: string
  readonly record: RecordLevel
}

export interface ChooseCaching {
  readonly type: 'ChooseCaching'
  readonly project_id: string
  readonly cache_seconds: number
}

export interface ChooseEndUserAttribute {
  readonly type: 'ChooseEndUserAttribute'
  readonly project_id: string
  readonly end_user_attribute: string
}

export interface ChooseRetention {
  readonly type: 'ChooseRetention'
  readonly project_id: string
  readonly content_days: number
  /** Null leaves them unchanged. */
  readonly except: readonly Exception[] | null
  readonly figures_days: number | null
}

export interface CreateProject {
  readonly type: 'CreateProject'
  readonly project_id: string
  readonly created_at: Instant
}

/** Null leaves the value unchanged. */
export interface DescribeProject {
  readonly type: 'DescribeProject'
  readonly project_id: string
  readonly description: string | null
  readonly repo: string | null
}

export type ProjectCommand =
  | ChooseUsageReporting
  | ChooseRecording
  | ChooseCaching
  | ChooseEndUserAttribute
  | ChooseRetention
  | CreateProject
  | DescribeProject

export interface ProjectState {
  readonly usageReporting: UsageReporting
  readonly record: RecordLevel
  readonly cacheSeconds: number
  readonly endUserAttribute: string
  readonly contentDays: number
  readonly except: readonly Exception[]
  readonly figuresDays: number
  /** Null for a project that was never created explicitly. */
  readonly createdAt: string | null
  readonly description: string | null
  readonly repo: string | null
}

export const projectDecider: Decider<ProjectState, ProjectCommand, ProjectEvent> = {
  initialState: () => ({
    usageReporting: 'auto',
    record: 'all',
    cacheSeconds: 0,
    endUserAttribute: '',
    contentDays: 0,
    except: [],
    figuresDays: 0,
    createdAt: null,
    description: null,
    repo: null,
  }),

  evolve: (state, event) => {
    switch (event.type) {
      case 'UsageReportingChosen':
        return { ...state, usageReporting: event.data.usage_reporting }
      case 'RecordingChosen':
        return { ...state, record: event.data.record }
      case 'CachingChosen':
        return { ...state, cacheSeconds: event.data.cache_seconds }
      case 'EndUserAttributeChosen':
        return { ...state, endUserAttribute: event.data.end_user_attribute }
      case 'RetentionChosen':
        return {
          ...{ ...state, contentDays: event.data.content_days, except: exceptionsOf(event.data) },
          figuresDays: figuresDaysOf(event.data),
        }
      case 'ProjectCreated':
        return { ...state, createdAt: event.data.created_at }
      case 'ProjectDescribed':
        return { ...state, description: event.data.description, repo: event.data.repo }
      default:
        // A newer release may have written an event type that this one does not know.
        return state
    }
  },

  decide: (state, command) => {
    const { project_id } = command
    switch (command.type) {
      case 'ChooseUsageReporting': {
        const { usage_reporting } = command
        return state.usageReporting === usage_reporting
          ? nothing
          : { events: [{ type: 'UsageReportingChosen', data: { project_id, usage_reporting } }] }
      }
      case 'ChooseRecording': {
        const { record } = command
        return state.record === record
          ? nothing
          : { events: [{ type: 'RecordingChosen', data: { project_id, record } }] }
      }
      case 'ChooseCaching': {
        const { cache_seconds } = command
        return state.cacheSeconds === cache_seconds
          ? nothing
          : { events: [{ type: 'CachingChosen', data: { project_id, cache_seconds } }] }
      }
      case 'ChooseEndUserAttribute': {
        const { end_user_attribute } = command
        return state.endUserAttribute === end_user_attribute
          ? nothing
          : { events: [{ type: 'EndUserAttributeChosen', data: { project_id, end_user_attribute } }] }
      }
      case 'ChooseRetention': {
        const { content_days } = command
        const except = inOrder(command.except ?? state.except)
        const figures_days = command.figures_days ?? state.figuresDays
        const isSame = state.contentDays === content_days && state.figuresDays === figures_days
        return isSame && state.except.join() === except.join()
          ? nothing
          : {
              events: [{ type: 'RetentionChosen', data: { project_id, content_days, except, figures_days } }],
            }
      }
      case 'CreateProject':
        return state.createdAt !== null
          ? nothing
          : { events: [{ type: 'ProjectCreated', data: { project_id, created_at: command.created_at } }] }
      case 'DescribeProject': {
        const description = command.description ?? state.description
        const repo = command.repo ?? state.repo
        return description === state.description && repo === state.repo
          ? nothing
          : { events: [{ type: 'ProjectDescribed', data: { project_id, description, repo } }] }
      }
      default:
        return command satisfies never
    }
  },
}
