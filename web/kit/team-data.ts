import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from './api.js'

/** Pickers and lists show at most as many. */
const limit = 1000

export const keysOfTeam = {
  webhooks: (team: string) => ['webhooks', team],
  automations: (team: string) => ['automations', team],
  secrets: (team: string) => ['secrets', team],
  members: (team: string) => ['members', team],
  upstreams: (team: string) => ['upstreams', team],
}

/** `isAllowed` is false for members, who do not see webhooks. */
export const useWebhooks = (team: string, isAllowed = true) =>
  useQuery({
    enabled: isAllowed,
    queryKey: keysOfTeam.webhooks(team),
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/teams/{team}/webhooks', { params: { path: { team }, query: { limit } }, signal })),
  })

export const useAutomations = (team: string, isAllowed = true) =>
  useQuery({
    enabled: isAllowed,
    queryKey: keysOfTeam.automations(team),
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/automations', { params: { query: { team, limit } }, signal })),
  })

export const useSecrets = (team: string, isAllowed = true) =>
  useQuery({
    queryKey: keysOfTeam.secrets(team),
    enabled: isAllowed,
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/teams/{team}/secrets', { params: { path: { team }, query: { limit } }, signal })),
  })

export const useUpstreams = (team: string, isAllowed = true) =>
  useQuery({
    queryKey: keysOfTeam.upstreams(team),
    enabled: isAllowed,
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/inference/upstreams', { params: { query: { team, limit } }, signal })),
  })

export const useMembers = (team: string) =>
  useQuery({
    queryKey: keysOfTeam.members(team),
    queryFn: ({ signal }) =>
      dataOf(api.GET('/api/teams/{team}/members', { params: { path: { team }, query: { limit } }, signal })),
  })
