import { AppLink } from '../kit/app-link.js'
import { usePlace } from '../kit/place.js'
import { printSearch } from '../kit/search.js'
import { useSetting } from '../kit/settings.js'

/** Leads to the events of a call, a webhook …; what the team has is in the history of the project opened last. */
export const HistoryLink = ({ object }: { readonly object: string }) => {
  const { team, project } = usePlace()
  const [lastProject] = useSetting(`project.${team}`, '')
  const of = project === '' ? lastProject : project
  return of === '' ? null : (
    <AppLink href={`/${team}/${of}/history${printSearch({ object })}`}>History</AppLink>
  )
}
