import type { UsageReporting } from './events.js'

export interface ChooseUsageReporting {
  readonly type: 'ChooseUsageReporting'
  readonly project_id: string
  readonly usage_reporting: UsageReporting
}
