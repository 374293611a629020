import { KeyedMutex } from '../../kernel/keyed-mutex.js'
import type { AnyRoute } from '../server/route.js'
import { createAutomation, listAutomations } from './automations-of-team.js'
import type { Automations } from './automations.js'
import { changeAutomation, deleteAutomation, showAutomation } from './one-automation.js'
import { changeWebhook, deleteWebhook, showWebhook } from './one-webhook.js'
import { testWebhook } from './test-webhook.js'
import { createWebhook, listWebhooks } from './webhooks.js'

export const automationRoutes = (parts: Omit<Automations, 'runExclusive'>): readonly AnyRoute[] => {
  const mutex = new KeyedMutex()
  const automations: Automations = {
    ...parts,
    runExclusive: (task) => mutex.runExclusive('automations', task),
  }
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
