import { useEffect } from 'react'
import { usePlace } from './place.js'

/** Names the page in the tab, the history and bookmarks: `research_agent · acme/support · Tallytree`. */
export const useTitle = (name: string | undefined): void => {
  const { team, project } = usePlace()
  useEffect(() => {
    const place = [team, project].filter((part) => part !== '').join('/')
    document.title = [name, place, 'Tallytree'].filter((part) => part).join(' · ')
  }, [name, team, project])
}
