package foreign

// Formats are those that can be read.
func Formats() []Format {
	return []Format{
		{"flowmonitor", "ns-3", "the XML file of ns-3's FlowMonitor (SerializeToXmlFile)", readFlowMonitor},
		{"htsim", "htsim", "what programs of csg-htsim print, with a line for each flow that ended", readHTSim},
	}
}
