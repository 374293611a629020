import type { ErasureRule, ErasureRules } from '../erased-content.js'

const ofAutomation: ErasureRule = () => ({ payload: '', description: null, query: null })

export const webhookErasures: ErasureRules = {
  AutomationCreated: ofAutomation,
  AutomationChanged: ofAutomation,
  DeliveryScheduled: () => ({ variables: {} }),
}
