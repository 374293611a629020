import { oneAtATime } from '../auth/one-at-a-time.js'
import type { AnyRoute } from '../route.js'
import { createAutomation, listAutomations } from './automations-of-team.js'
import type { Automations } from './automations.js'
import { changeAutomation, deleteAutomation, showAutomation } from './one-automation.js'
import { changeWebhook, deleteWebhook, showWebhook } from './one-webhook.js'
import { testWebhook } from './test-webhook.js'
import { createWebhook, listWebhooks } from './webhooks.js'

/** Webhooks and automations. */
export const automationRoutes = (parts: Omit<Automations, 'inTurn'>): readonly AnyRoute[] => {
  const automations = { ...parts, inTurn: oneAtATime() }
  return [
    createWebhook(automations),
    listWebhooks(automations),
    showWebhook(automations),
    changeWebhook(automations),
    deleteWebhook(automations),
    testWebhook(automations),
    createAutomation(automations),
    listAutomations(automations),
    showAutomation(automations),
    changeAutomation(automations),
    deleteAutomation(automations),
  ]
}
