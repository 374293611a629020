import { nothing, type Decider } from '../../kernel/decider.js'
import type { ProjectCommand } from './commands.js'
import type { ProjectEvent, RecordLevel, UsageReporting } from './events.js'

export interface ProjectState {
  readonly usageReporting: UsageReporting
  readonly record: RecordLevel
  /** Null for a project that was never created explicitly. */
  readonly createdAt: string | null
  readonly description: string | null
  readonly repo: string | null
}

export const projectDecider: Decider<ProjectState, ProjectCommand, ProjectEvent> = {
  initialState: () => ({
    usageReporting: 'auto',
    record: 'all',
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
